import {
  CUBE_DIMENSIONS,
  FILTER_DIMENSIONS,
  FINE_DIMENSIONS,
  type FilterDimension,
  type FineDimension,
} from "../../domain/cube.ts";

/** The dimensions by which a report can be grouped. */
export const DIMENSIONS = [
  { name: "date", label: "Date", cname: "日期" },
  { name: "hour", label: "Hour", cname: "小时" },
  { name: "ad_platform", label: "Ad platform", cname: "媒体" },
  { name: "advertiser_id", label: "Account", cname: "账户" },
  { name: "gid", label: "Plan", cname: "计划" },
  { name: "aid", label: "Ad", cname: "广告" },
  { name: "creative", label: "Creative", cname: "创意" },
  { name: "channel", label: "Channel", cname: "渠道" },
  { name: "os_platform", label: "Device type", cname: "设备类型" },
  { name: "operator", label: "Optimiser", cname: "优化师" },
  { name: "turbo_promoted_object_id", label: "Campaign", cname: "推广计划" },
  { name: "csite", label: "Placement", cname: "版位" },
  { name: "dept", label: "Department", cname: "部门" },
] as const;
export type Dimension = (typeof DIMENSIONS)[number]["name"];
export type CubeDimension = (typeof CUBE_DIMENSIONS)[number];

const byName = new Map<string, (typeof DIMENSIONS)[number]>(DIMENSIONS.map((one) => [one.name, one]));

export function dimensionNamed(name: string): (typeof DIMENSIONS)[number] | undefined {
  return byName.get(name);
}

/**
 * Whether the cube has a column of this name. Date is its day; optimiser and department are derived from the account.
 */
export function isCubeDimension(name: Dimension): name is Dimension & CubeDimension {
  return (CUBE_DIMENSIONS as readonly string[]).includes(name);
}

export function isFineDimension(name: string): name is FineDimension {
  return (FINE_DIMENSIONS as readonly string[]).includes(name);
}

export function isFilterDimension(name: string): name is FilterDimension {
  return (FILTER_DIMENSIONS as readonly string[]).includes(name);
}

const INCOMPATIBLE: readonly (readonly [Dimension, readonly Dimension[]])[] = [
  [
    "csite",
    [
      ...(["advertiser_id", "gid", "aid", "creative", "channel", "os_platform", "operator"] as const),
      ...(["turbo_promoted_object_id", "dept"] as const),
    ],
  ],
  ["channel", ["operator", "turbo_promoted_object_id", "dept"]],
  ["turbo_promoted_object_id", ["dept"]],
];

/** The first two of these that cannot be queried together. */
export function incompatiblePair(names: readonly Dimension[]): [Dimension, Dimension] | undefined {
  for (const [one, others] of INCOMPATIBLE) {
    const other = names.includes(one) ? others.find((name) => names.includes(name)) : undefined;
    if (other) return [one, other];
  }
  return undefined;
}

/** The reason why a pair is refused, which the console also shows. */
export function incompatibleText([one, other]: readonly [Dimension, Dimension]): string {
  return `${one} and ${other} cannot be queried together.`;
}

/** Names and states of a row's account, plan, ad and creative, with the dimension that each needs. */
export const ASSOCIATED = {
  advertiser_status: { dimension: "advertiser_id", field: "status", label: "Account status", cname: "账户状态" },
  advertiser_name: { dimension: "advertiser_id", field: "name", label: "Account name", cname: "账户名称" },
  advertiser_remark: { dimension: "advertiser_id", field: "remark", label: "Account remark", cname: "账户备注" },
  gName: { dimension: "gid", field: "name", label: "Plan name", cname: "计划名称" },
  gStatus: { dimension: "gid", field: "status", label: "Plan status", cname: "计划状态" },
  AidName: { dimension: "aid", field: "name", label: "Ad name", cname: "广告名称" },
  AidStatus: { dimension: "aid", field: "status", label: "Ad status", cname: "广告状态" },
  CidName: { dimension: "creative", field: "name", label: "Creative name", cname: "创意名称" },
  CidStatus: { dimension: "creative", field: "status", label: "Creative status", cname: "创意状态" },
} as const satisfies Record<string, { dimension: Dimension; field: string; label: string; cname: string }>;
export type Associated = keyof typeof ASSOCIATED;

export function isAssociated(name: string): name is Associated {
  return Object.hasOwn(ASSOCIATED, name);
}
