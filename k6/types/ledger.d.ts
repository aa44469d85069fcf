// What k6/recorder/ledger/module.go offers to scripts.

declare module "k6/x/ledger" {
  export interface Ledger {
    /** Waits until so many k6 processes, which share the load and this file, can begin. To be called in setup. */
    meet(processes: number): void;
    /** The number of this iteration in the load, from 0. */
    sequence(): number;
    /**
     * Sends a POST of that JSON, records what became of it, and returns whether it was served: a 201 that names the id
     * in Location.
     */
    write(path: string, id: string, body: string): boolean;
    /** Sends a GET and records what became of it; a 200 must have that total, or where posts are added, a higher one. */
    search(path: string, total: number, growing: boolean): void;
    /** Sends a GET, records what became of it, and returns whether it was served. */
    read(path: string): boolean;
    /**
     * Logs in with a POST of that JSON, gets each list with the token, records each request and the session, and
     * returns whether all of it was served. All sessions of a load have as many lists.
     */
    session(path: string, body: string, lists: string[]): boolean;
    /** Requests or sessions that were begun, with those that were interrupted and so never recorded. */
    begun(): number;
    /** Writes what is left; throws where not everything could be written. */
    close(): void;
  }

  /**
   * The ledger in that file of what is sent to that base URL; requestsPath: that of the requests of sessions. A request
   * without an answer is given up after timeoutSeconds. To be called where k6 initialises.
   */
  export function openLedger(path: string, target: string, timeoutSeconds: number, requestsPath?: string): Ledger;

  /** The entry for a sequence number, of the JSON array in that file. To be called where k6 initialises. */
  export function openEntries(path: string): (sequence: number) => any;
}
