export const texts = {
  en: {
    title: "Audit log",
    about:
      "Every change, every secret that was shown, every export and failed sign-ins, the newest first. Secrets are never in it.",
    app: "App",
    anyApp: "all apps, and what is of none",
    columns: { at: "When", actor: "Who", action: "What", app: "App", details: "Sent", address: "From" },
    none: "Nothing is noted yet",
    noneHelp: "Changes show up here as soon as they are made.",
    more: "Older ones",
    end: "This is the beginning of the log.",
    noApp: "–",
  },
  zh: {
    title: "审计日志",
    about: "每一次更改、每一次查看密钥、每一次导出以及失败的登录，最新的在前。其中绝不含密钥。",
    app: "应用",
    anyApp: "全部应用及不属于应用的更改",
    columns: { at: "时间", actor: "操作者", action: "操作", app: "应用", details: "提交内容", address: "来源" },
    none: "还没有任何记录",
    noneHelp: "更改会立即显示在这里。",
    more: "更早的记录",
    end: "已到日志开头。",
    noApp: "–",
  },
};
