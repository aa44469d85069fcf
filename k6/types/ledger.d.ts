// What k6/recorder/ledger/module.go offers to scripts.

declare module "k6/x/ledger" {
  export interface Ledger {
    /** Counts a request that is sent now, and gives the time as `now` does. */
    begin(): number;
    /** Milliseconds since the epoch, to the microsecond; goes on evenly where the host's clock is set. */
    now(): number;
    /** Takes one finished request; times in milliseconds. Ends the test where it cannot be recorded. */
    record(
      operation: number,
      sequence: number,
      startedMs: number,
      blockedMs: number,
      durationMs: number,
      status: number,
      errorCode: number,
    ): void;
    /** Requests that were sent, with those that were interrupted and so never recorded. */
    begun(): number;
    /** Writes what is left; throws where not everything could be written. */
    close(): void;
  }

  /** The ledger in that file, made anew; all virtual users share it. To be called where k6 initialises. */
  export function openLedger(path: string): Ledger;
}
