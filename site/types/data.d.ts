// What data.js gives to the page: schemas/site.schema.json, which scripts/src/writepath/records/site.py defines.

export interface Figure {
  shown: string;
  value: number | null;
  low: number | null;
  high: number | null;
  bound: boolean;
  interval: boolean;
}

export interface Column {
  key: string;
  title: string;
  unit: string;
  path: boolean;
}

export interface Row {
  cells: (string | Figure)[];
  mark: string;
  variant: string | null;
  path: string;
  host: string;
  durability: string;
  evidence: number[];
}

export interface Table {
  key: string;
  title: string;
  caption: string;
  notes: string[];
  names: number;
  resolution: number | null;
  single: boolean;
  columns: Column[];
  rows: Row[];
}

export interface Evidence {
  name: string;
  block: number;
  role: string;
  verdict: string;
  reasons: string[];
  started_at: string;
  host: string;
  commit: string;
  settings: Record<string, string>;
  guarantees: Record<string, string>;
  versions: Record<string, string>;
  folder: string;
  files: string[];
}

export interface Variant {
  name: string;
  title: string;
  acknowledges: string;
}

export interface Suite {
  name: string;
  title: string;
  runtime: string;
  status: "running" | "aborted" | "finished";
  cells_ended: number;
  cells_planned: number;
  answer: string[];
  facts: string;
  baseline: string | null;
  variants: Variant[];
  tables: Table[];
  evidence: Evidence[];
}

export interface Site {
  schema_version: number;
  suites: Suite[];
}

declare global {
  /** Called by data.js. */
  var writepath: (site: Site) => void;
}
