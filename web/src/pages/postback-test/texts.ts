import type { TestNote, TestVerdict } from "../../../../src/contract/admin/postback-test.ts";
import type { Texts } from "../../texts.ts";

type TestTexts = {
  title: (account: string) => string;
  about: string;
  eventType: string;
  code: string;
  codeHint: string;
  amount: (currency: string) => string;
  amountHint: string;
  amountProblem: string;
  of: string;
  ofUser: string;
  ofClick: string;
  client: string;
  clientHint: string;
  key: string;
  keyValue: (key: string) => string;
  keyHint: string;
  device: string;
  os: string;
  anyOs: string;
  mark: (mark: string) => string;
  markHint: string;
  noMark: string;
  send: string;
  close: string;
  sending: string;
  verdicts: Record<TestVerdict, [badge: string, meaning: string]>;
  notes: Record<TestNote, string>;
  marked: (mark: string) => string;
  unmarked: string;
  id: (id: string, at: string) => string;
  request: string;
  answer: string;
  noAnswer: string;
  cut: string;
  masked: string;
};

export const texts: Texts<TestTexts> = {
  en: {
    title: (account) => `Test ${account}`,
    about:
      "Sends one conversion to the platform now and shows the request and the answer. It changes no report here and is never sent again.",
    eventType: "Conversion",
    code: "Platform's own code",
    codeHint: "As a rule may name it. Leave empty for the usual one.",
    amount: (currency) => `Amount (${currency})`,
    amountHint: "Only for payments and orders.",
    amountProblem: "An amount such as 6 or 6.48.",
    of: "Of",
    ofUser: "A user",
    ofClick: "A click",
    client: "User (client_id)",
    clientHint: "Someone whom this platform brought: their click and device IDs are sent.",
    key: "Key of the click",
    keyValue: (key) => `Value of ${key}`,
    keyHint: "From the platform's test tool, or from a click in Live.",
    device: "Device IDs, if the platform needs them",
    os: "Operating system",
    anyOs: "Unknown",
    mark: (mark) => `Mark it as a test (${mark})`,
    markHint:
      "Without the mark it is exactly what a real postback sends: the platform's test tool may need that, and the conversion may be counted.",
    noMark: "This platform does not tell tests from real conversions: it counts this one like any other.",
    send: "Send test",
    close: "Close",
    sending: "Waiting for the platform…",
    verdicts: {
      accepted: ["Accepted", "The platform accepted it."],
      refused: ["Refused", "The platform refused it; a real postback would have failed."],
      retry: ["Not accepted", "A real postback would be tried again later."],
      no_answer: ["No answer", "It was sent, but no answer came. The platform may have counted it."],
      not_sent: ["Not sent", "The platform could not be called."],
    },
    notes: {
      new_token: "The first call was refused for its token. This is the second one, with a new token.",
      other_account: "Real postbacks of this user go through another account of the app.",
    },
    marked: (mark) => `Marked as a test: ${mark}.`,
    unmarked: "Sent without a mark: the platform takes it for a real conversion.",
    id: (id, at) => `${id} · ${at}`,
    request: "Request",
    answer: "Answer",
    noAnswer: "(none)",
    cut: "… (cut)",
    masked: "Secrets and signatures are shown as “…”.",
  },
  zh: {
    title: (account) => `联调测试：${account}`,
    about: "立即向媒体发送一条转化，并显示请求与返回。不影响这里的任何报表，也不会重发。",
    eventType: "转化类型",
    code: "媒体事件代码",
    codeHint: "与规则中相同；留空则用默认代码。",
    amount: (currency) => `金额（${currency}）`,
    amountHint: "仅用于付费和订单。",
    amountProblem: "请填写金额，例如 6 或 6.48。",
    of: "对象",
    ofUser: "用户",
    ofClick: "点击",
    client: "用户（client_id）",
    clientHint: "必须是该媒体带来的用户：使用其点击和设备标识。",
    key: "点击标识",
    keyValue: (key) => `${key} 的值`,
    keyHint: "来自媒体的联调工具，或实时数据中的点击。",
    device: "设备标识（媒体要求时填写）",
    os: "操作系统",
    anyOs: "未知",
    mark: (mark) => `标记为测试（${mark}）`,
    markHint: "不标记时与真实回传完全相同：媒体的联调工具可能只认这种，但可能会被计入。",
    noMark: "该媒体不区分测试与真实转化，这条转化会照常计入。",
    send: "发送测试",
    close: "关闭",
    sending: "等待媒体返回…",
    verdicts: {
      accepted: ["成功", "媒体已接收。"],
      refused: ["拒绝", "媒体拒绝了；真实回传会失败。"],
      retry: ["未接收", "真实回传会稍后重试。"],
      no_answer: ["无返回", "已发送，但没有返回。媒体可能已计入。"],
      not_sent: ["未发送", "无法连接媒体。"],
    },
    notes: {
      new_token: "第一次请求因令牌被拒绝，这是换新令牌后的第二次请求。",
      other_account: "该用户的真实回传使用本应用的另一个账户。",
    },
    marked: (mark) => `已标记为测试：${mark}。`,
    unmarked: "未带测试标记：媒体视为真实转化。",
    id: (id, at) => `${id} · ${at}`,
    request: "请求",
    answer: "返回",
    noAnswer: "（无）",
    cut: "……（已截断）",
    masked: "密钥和签名显示为“…”。",
  },
};
