import type { ORDER_FILTERS, POSTBACK_FILTERS, USER_FILTERS } from "../../../../src/contract/list-filter.ts";

type FilterName = keyof typeof USER_FILTERS | keyof typeof ORDER_FILTERS | keyof typeof POSTBACK_FILTERS;
type OperatorName = "equal" | "not_equal" | "between" | "inner" | "is_set" | "not_set";

type ListTexts = {
  filters: Record<FilterName, string>;
  operators: Record<OperatorName, string>;
  statuses: readonly string[];
} & Record<
  | ("filter" | "ofUser" | "ofOrder" | "ofPostback" | "ofProperties" | "apply" | "reset" | "add" | "remove" | "from")
  | (
      | "until"
      | "eventType"
      | "anyStatus"
      | "anyType"
      | "range"
      | "oneOf"
      | "value"
      | "field"
      | "operator"
      | "addCondition"
    )
  | ("valueHint" | "severalHint" | "columns" | "columnsAbout" | "shown" | "others" | "findColumn" | "usual" | "save")
  | ("pageSize" | "goTo" | "go" | "csv" | "csvTitle" | "csvAbout" | "csvDone" | "csvStop" | "csvBroken" | "close")
  | (
      | "organic"
      | "yes"
      | "no"
      | "none"
      | "loading"
      | "notFound"
      | "notFoundHelp"
      | "clear"
      | "up"
      | "down"
      | "badNumber"
    ),
  string
> & {
    filterCount: (count: number) => string;
    csvRows: (rows: string, of: string) => string;
    csvReady: (rows: string) => string;
    removeFilter: (name: string) => string;
  };

const en: ListTexts = {
  filter: "Filter",
  filterCount: (count) => `Filter (${count})`,
  removeFilter: (name) => `Remove the filter ${name}`,
  ofUser: "About the user",
  ofOrder: "About the order",
  ofPostback: "About postbacks",
  ofProperties: "Properties",
  apply: "Apply",
  reset: "Reset",
  clear: "Clear all",
  add: "Add",
  remove: "Remove",
  from: "from",
  until: "to",
  anyStatus: "Any",
  anyType: "Any",
  eventType: "Type",
  range: "between",
  oneOf: "one of",
  value: "Value",
  field: "Property",
  operator: "Condition",
  addCondition: "Add a condition",
  valueHint: "5 is a number, true a yes, “5” in quotes a text.",
  severalHint: "Several: with commas or on lines of their own.",
  badNumber: "Only numbers.",
  columns: "Columns",
  columnsAbout: "What the table shows, from left to right. This browser remembers it.",
  shown: "Shown",
  others: "Not shown",
  findColumn: "Find a column",
  usual: "As usual",
  save: "Show these",
  up: "Move left",
  down: "Move right",
  pageSize: "Rows",
  goTo: "Go to page",
  go: "Go",
  csv: "CSV",
  csvTitle: "Export as CSV",
  csvAbout: "Everything that the filters let through, with every column, as of one moment.",
  csvRows: (rows, of) => `${rows} of ${of} rows`,
  csvReady: (rows) => `${rows} rows exported.`,
  csvDone: "The file is in your downloads.",
  csvStop: "Stop",
  csvBroken: "The export broke off before its end. Nothing was saved.",
  close: "Close",
  organic: "Organic",
  yes: "Yes",
  no: "No",
  none: "–",
  loading: "Loading …",
  notFound: "Nothing fits these filters",
  notFoundHelp: "Take one of them away, or widen a range.",
  statuses: ["Not sent", "Succeeded", "Failed", "Skipped"],
  operators: {
    ...{ equal: "is", not_equal: "is not", between: "lies between", inner: "is one of" },
    ...{ is_set: "is there", not_set: "is not there" },
  },
  filters: {
    create_date_list: "Registered",
    ad_platform_list: "Platform",
    channel_list: "Channel",
    version_list: "Version",
    turbo_promoted_object_id_list: "Campaign",
    advertiser_id_list: "Account",
    gid_list: "Plan",
    aid_list: "Ad",
    cid_list: "Creative",
    wx_openid_list: "Open id",
    client_id_list: "Client id",
    Amount: "Amount",
    BackAmount: "Sent back",
    UploadTime: "Changed or received",
    PayEventTime: "Paid",
    Status: "Postback",
    PayCount: "Nth payment",
    PostbackCnt: "Times sent again",
    TraceID: "Order id",
    event$pay_method: "Payment method",
    event$pay_reason: "Payment reason",
    postback_filtering: "Postback",
  },
};

const zh: ListTexts = {
  filter: "筛选",
  filterCount: (count) => `筛选（${count}）`,
  removeFilter: (name) => `移除筛选条件：${name}`,
  ofUser: "用户条件",
  ofOrder: "订单条件",
  ofPostback: "回传条件",
  ofProperties: "属性条件",
  apply: "应用",
  reset: "重置",
  clear: "全部清除",
  add: "添加",
  remove: "移除",
  from: "从",
  until: "至",
  anyStatus: "不限",
  anyType: "不限",
  eventType: "类型",
  range: "区间",
  oneOf: "等于其中之一",
  value: "值",
  field: "属性",
  operator: "条件",
  addCondition: "添加条件",
  valueHint: "5 表示数字，true 表示是，加引号的 “5” 表示文本。",
  severalHint: "多个值用逗号或换行分隔。",
  badNumber: "只能填写数字。",
  columns: "列",
  columnsAbout: "选择表格显示的列，从左到右排列。浏览器会记住此设置。",
  shown: "已显示",
  others: "未显示",
  findColumn: "查找列",
  usual: "恢复默认",
  save: "确定",
  up: "左移",
  down: "右移",
  pageSize: "每页行数",
  goTo: "跳至第几页",
  go: "跳转",
  csv: "CSV",
  csvTitle: "导出 CSV",
  csvAbout: "导出符合筛选条件的全部数据，包含所有列，数据为同一时刻的快照。",
  csvRows: (rows, of) => `已导出 ${rows} / ${of} 行`,
  csvReady: (rows) => `共导出 ${rows} 行。`,
  csvDone: "文件已保存到下载目录。",
  csvStop: "停止",
  csvBroken: "导出中断，未保存任何文件。",
  close: "关闭",
  organic: "自然量",
  yes: "是",
  no: "否",
  none: "–",
  loading: "加载中…",
  notFound: "没有符合条件的数据",
  notFoundHelp: "请减少筛选条件，或放宽范围。",
  statuses: ["未回传", "成功", "失败", "已跳过"],
  operators: {
    ...{ equal: "等于", not_equal: "不等于", between: "介于", inner: "属于" },
    ...{ is_set: "有值", not_set: "无值" },
  },
  filters: {
    create_date_list: "注册日期",
    ad_platform_list: "媒体",
    channel_list: "渠道",
    version_list: "版本",
    turbo_promoted_object_id_list: "推广活动",
    advertiser_id_list: "账户",
    gid_list: "计划",
    aid_list: "广告",
    cid_list: "创意",
    wx_openid_list: "Open ID",
    client_id_list: "用户 ID",
    Amount: "金额",
    BackAmount: "回传金额",
    UploadTime: "更新或接收时间",
    PayEventTime: "付费时间",
    Status: "回传状态",
    PayCount: "第几次付费",
    PostbackCnt: "补传次数",
    TraceID: "订单号",
    event$pay_method: "付费方式",
    event$pay_reason: "付费原因",
    postback_filtering: "回传",
  },
};

export const texts = { en, zh };
export type { ListTexts };
