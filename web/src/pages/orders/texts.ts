export const texts = {
  en: {
    title: "Orders",
    about: "Every payment, the user who made it, and its postback.",
    orders: "Orders",
    amount: (currency: string) => `Amount (${currency})`,
    back: (currency: string) => `Postback amount (${currency})`,
    ofUsers: (currency: string) => `Total paid (${currency})`,
    greatest: (amount: string) => `by these users; largest payment ${amount}`,
    none: "No orders yet",
    noneHelp: "An order appears here once a user’s $PayEvent or a payment from your server has been received.",
  },
  zh: {
    title: "订单",
    about: "每一笔付费、付费用户，以及回传结果。",
    orders: "订单数",
    amount: (currency: string) => `金额（${currency}）`,
    back: (currency: string) => `回传金额（${currency}）`,
    ofUsers: (currency: string) => `累计付费（${currency}）`,
    greatest: (amount: string) => `这些用户的总额，最大单笔 ${amount}`,
    none: "还没有订单",
    noneHelp: "收到用户的 $PayEvent 事件或服务端上报的付费后，订单会显示在这里。",
  },
};
