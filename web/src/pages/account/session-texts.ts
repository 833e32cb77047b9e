export const sessionTexts = {
  en: {
    about:
      "Where you are signed in. Sessions end after twelve hours without use, and after seven days. Signing out everywhere also revokes your API tokens.",
    everywhere: "Sign out everywhere",
    columns: {
      device: "Device",
      address: "Address",
      method: "Signed in by",
      created: "Since",
      seen: "Last seen",
      actions: "Actions",
    },
    methods: { password: "Password", link: "One-time link", oidc: "Identity provider" },
    current: "this one",
    unknown: "Unknown",
    end: "End",
    ended: "Session ended.",
  },
  zh: {
    about: "您登录的位置。会话在十二小时未使用或七天后失效。全部退出登录时，您的 API 令牌也将吊销。",
    everywhere: "全部退出登录",
    columns: {
      device: "设备",
      address: "地址",
      method: "登录方式",
      created: "开始时间",
      seen: "最近使用",
      actions: "操作",
    },
    methods: { password: "密码", link: "一次性链接", oidc: "统一身份认证" },
    current: "当前",
    unknown: "未知",
    end: "结束",
    ended: "会话已结束。",
  },
};
