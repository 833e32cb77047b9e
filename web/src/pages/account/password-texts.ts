export const passwordTexts = {
  en: {
    about: "Changing the password ends all your other sessions and revokes your API tokens.",
    present: "Current password",
    fresh: "New password",
    hint: "At least 10 characters.",
    change: "Change password",
    changed: "Password changed.",
  },
  zh: {
    about: "修改密码后，您的其他会话将全部失效，您的 API 令牌将全部吊销。",
    present: "当前密码",
    fresh: "新密码",
    hint: "至少 10 个字符。",
    change: "修改密码",
    changed: "密码已修改。",
  },
};
