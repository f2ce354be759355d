/** Known defects of the product, by their differences. The commit with the fix removes the row. */
interface Known {
  readonly server: string;
  readonly roads: readonly string[];
  readonly what: readonly string[];
  readonly why: string;
  /** A server before it, without which there is no difference. */
  readonly beside?: string;
}

export const known: readonly Known[] = [];
