/** The kinds of files, named by their paths in the interface. */
export const FILE_KINDS = ["cost", "advertiser", "ad-object", "rebate", "refund"] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** A header and example rows for each kind. The first column is required. */
const TEMPLATES: Readonly<Record<FileKind, readonly string[]>> = {
  cost: [
    "date,ad_platform,advertiser_id,gid,aid,creative,csite,channel,os_platform,turbo_promoted_object_id,impressions,clicks,cost",
    "2026-11-15,tencent,12345678,plan-1,ad-1,creative-1,,,,,10000,120,88.50",
    "2026-11-15,vivo,87654321,plan-2,ad-2,,,store,android,,5000,60,42.00",
  ],
  advertiser: [
    "ad_platform,advertiser_id,name,status,remark,operator,dept",
    "tencent,12345678,Main account,active,,Ann,UA",
  ],
  "ad-object": [
    "ad_platform,level,id,name,status",
    "tencent,plan,plan-1,Summer plan,active",
    "tencent,ad,ad-1,Video with the duck,active",
    "tencent,creative,creative-1,Duck 15 s,active",
  ],
  rebate: [
    "ad_platform,advertiser_id,start_date,end_date,cash_percent,credit_percent",
    "tencent,12345678,2026-10-01,2026-12-31,3,5",
    "kuaishou,87654321,2026-11-01,,0,8.5",
  ],
  refund: [
    "order_id,amount,time,refund_id,currency",
    "order-1,6.00,2026-11-15 08:00:00,refund-1,",
    "order-2,,2026-11-15 09:30:00,,",
  ],
};

/** Begins with a byte order mark, so that spreadsheets read the file as UTF-8. */
export function templateOf(kind: FileKind): Blob {
  return new Blob([`\uFEFF${TEMPLATES[kind].join("\r\n")}\r\n`], { type: "text/csv;charset=utf-8" });
}

export type ReadFile = { name: string; text: string; encoding: "UTF-8" | "GB18030" };

/** Reads as GB18030 what is not valid UTF-8: spreadsheets on Chinese systems write GB18030 by default. */
export async function readFile(file: File): Promise<ReadFile> {
  const bytes = await file.arrayBuffer();
  try {
    return { name: file.name, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), encoding: "UTF-8" };
  } catch {
    return { name: file.name, text: new TextDecoder("gb18030").decode(bytes), encoding: "GB18030" };
  }
}
