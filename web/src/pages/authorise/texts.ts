export const texts = {
  en: {
    connect: "Connect at the platform",
    form: {
      title: "Connect accounts at a platform",
      about:
        "You are taken to the platform, sign in there, and authorise your developer application. Then you choose which accounts to connect.",
      platform: "Platform",
      redirect: "Redirect address",
      redirectHint:
        "Enter this address as the redirect (callback) address of your developer application first. Most platforms want https and no port.",
      application: "Developer application",
      ofAccount: (account: string) => `As in account ${account}`,
      other: "Another one",
      submit: "Go to the platform",
    },
    page: {
      title: "Choose accounts",
      about: (platform: string, app: string) =>
        `Authorised at ${platform}. Choose the accounts that ${app} advertises with.`,
      nothing: "Nothing to connect",
      nothingHelp: "Begin under Cost, on the tab Accounts.",
      back: "To the accounts",
      table: "Authorised accounts",
      columns: { choose: "Connect", name: "Name", id: "Advertiser ID", state: "In this app" },
      all: "All",
      known: "gets new tokens",
      isNew: "new",
      none: "The authorisation sees no account",
      noneHelp: "Authorise with a login that may see the account, or enter the account by hand.",
      leftOut: (count: number) =>
        count === 1
          ? "One entry is left out: it is no advertiser's account, or no longer authorised."
          : `${count} entries are left out: they are no advertisers' accounts, or no longer authorised.`,
      trouble: (reason: string) => `The list may be incomplete. ${reason}`,
      costs: "Pull costs with the chosen accounts",
      submit: (count: number) => (count === 1 ? "Connect one account" : `Connect ${count} accounts`),
      done: (count: number) => (count === 1 ? "One account connected." : `${count} accounts connected.`),
    },
  },
  zh: {
    connect: "去媒体授权",
    form: {
      title: "通过媒体授权连接账户",
      about: "将跳转到媒体页面，登录并授权您的开发者应用，然后选择要连接的账户。",
      platform: "媒体",
      redirect: "回调地址",
      redirectHint: "请先在媒体的开发者应用中把它填为回调地址。多数媒体要求 https 且不带端口。",
      application: "开发者应用",
      ofAccount: (account: string) => `与账户 ${account} 相同`,
      other: "其他应用",
      submit: "前往媒体",
    },
    page: {
      title: "选择账户",
      about: (platform: string, app: string) => `已在${platform}授权。请选择 ${app} 投放所用的账户。`,
      nothing: "没有可连接的账户",
      nothingHelp: "请从“消耗”的“账户”页开始。",
      back: "返回账户",
      table: "已授权的账户",
      columns: { choose: "连接", name: "名称", id: "广告主 ID", state: "本应用中" },
      all: "全部",
      known: "将更新令牌",
      isNew: "新账户",
      none: "该授权看不到任何账户",
      noneHelp: "请用有权限的账号重新授权，或手动填写账户。",
      leftOut: (count: number) => `另有 ${count} 项未列出：不是广告主账户，或授权已失效。`,
      trouble: (reason: string) => `列表可能不完整。${reason}`,
      costs: "用所选账户拉取消耗",
      submit: (count: number) => `连接 ${count} 个账户`,
      done: (count: number) => `已连接 ${count} 个账户。`,
    },
  },
};
