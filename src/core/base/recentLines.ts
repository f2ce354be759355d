/** Keeps the last lines of a log for a bug report, bounded in number and length. */
const most = 100;
const longest = 500;

export class RecentLines {
  private readonly kept: string[] = [];

  get lines(): readonly string[] {
    return this.kept;
  }

  add(line: string): void {
    this.kept.push(line.length > longest ? `${line.slice(0, longest)}…` : line);
    if (this.kept.length > most) this.kept.shift();
  }
}
