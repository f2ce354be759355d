/** What is to become of one entry of another program's file. */
export interface EntryChange {
  readonly name: string;
  /** Those of its keys that are ours. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** Else these keys are set in the entry that is there. */
  readonly isNew: boolean;
}
