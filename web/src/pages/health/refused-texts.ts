import type { HealthAnswer } from "../../../../src/contract/admin/health.ts";

type Reasons = Record<HealthAnswer["refused"][number]["reason"], string>;

const reasonsEn: Reasons = {
  entries: "More calls than the app's budget (APP_ENTRIES_PER_S)",
  bytes: "More bytes than the app's budget (APP_BYTES_PER_S)",
  address: "More link calls from one address than its budget (ADDRESS_ENTRIES_PER_S, ADDRESS_BYTES_PER_S)",
  bodies: "More bodies at the same time than an even share (BODIES_IN_FLIGHT_BYTES_MAX)",
  large_bodies: "More large bodies at the same time than an even share",
  memory: "More waiting for the disk than an even share (JOURNAL_PENDING_BYTES_MAX)",
  backlog: "More waiting for the database than an even share (JOURNAL_BACKLOG_BYTES_MAX)",
  disk: "Disk space is running low, and the app writes more than an even share (DISK_FREE_BYTES_MIN)",
};

const reasonsZh: Reasons = {
  entries: "调用次数超过应用预算（APP_ENTRIES_PER_S）",
  bytes: "字节数超过应用预算（APP_BYTES_PER_S）",
  address: "同一地址的监测链接调用超过预算（ADDRESS_ENTRIES_PER_S、ADDRESS_BYTES_PER_S）",
  bodies: "同时接收的请求体超过平均份额（BODIES_IN_FLIGHT_BYTES_MAX）",
  large_bodies: "同时处理的大请求体超过平均份额",
  memory: "等待写盘的数据超过平均份额（JOURNAL_PENDING_BYTES_MAX）",
  backlog: "等待入库的数据超过平均份额（JOURNAL_BACKLOG_BYTES_MAX）",
  disk: "磁盘空间紧张，且该应用写入超过平均份额（DISK_FREE_BYTES_MIN）",
};

export const texts = {
  en: {
    title: "Refused calls",
    about:
      "Calls answered with 429 since the start because an app or an address exceeded its budget or its share. SDKs keep unsent data and send it again.",
    app: "App",
    noApp: "none",
    reason: "Reason",
    calls: "Calls",
    last: "Last",
    reasons: reasonsEn,
  },
  zh: {
    title: "被拒绝的调用",
    about: "启动以来因应用或地址超出预算或份额而返回 429 的调用。SDK 会保留未发出的数据并重新发送。",
    app: "应用",
    noApp: "无",
    reason: "原因",
    calls: "次数",
    last: "最近一次",
    reasons: reasonsZh,
  },
};
