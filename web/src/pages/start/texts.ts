import type { SnippetComments } from "./snippets.ts";

const comments: { en: SnippetComments; zh: SnippetComments } = {
  en: {
    begin: "What every call needs.",
    click: "An ad is clicked. For real, the ad platform's server calls this link of your campaign.",
    register: "The player starts the game, with what the game was launched with: that is how the click is found.",
    event: "The player does something.",
    payment: "The player pays 6.00: amounts are in cents.",
    end: "In this order.",
  },
  zh: {
    begin: "每次调用都需要的内容。",
    click: "有人点击了广告。实际投放时，由广告平台的服务器调用推广活动的这个链接。",
    register: "玩家启动游戏并注册，带上启动参数：系统据此找到那次点击。",
    event: "玩家有所行为。",
    payment: "玩家支付 6.00 元：金额以分为单位。",
    end: "按此顺序执行。",
  },
};

export const texts = { en: { comments: comments.en }, zh: { comments: comments.zh } };
