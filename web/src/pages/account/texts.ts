export const texts = {
  en: {
    title: "Your account",
    about: "How and where you sign in, and tokens for your programs.",
    tabs: { password: "Password", second: "Second factor", sessions: "Sessions", tokens: "API tokens" },
  },
  zh: {
    title: "我的账户",
    about: "您的登录方式，以及供程序使用的令牌。",
    tabs: { password: "密码", second: "两步验证", sessions: "登录会话", tokens: "API 令牌" },
  },
};
