/**
 * Texts as bytes, which it writes over again after `clear`, because the garbage collector counts
 * each new byte (P11).
 */
export class TextBytes {
  /** Seldom grows. A byte takes memory only when it is written. */
  private bytes = Buffer.allocUnsafeSlow(1 << 20);
  private used = 0;

  /** Valid until the next change. */
  get all(): Buffer {
    return this.bytes.subarray(0, this.used);
  }

  add(text: string): void {
    // A UTF-16 code unit takes at most three bytes.
    const needed = this.used + 3 * text.length;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * needed);
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
    this.used += this.bytes.write(text, this.used);
  }

  clear(): void {
    this.used = 0;
  }
}
