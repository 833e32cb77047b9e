import type { DoctorAnswer } from "../../../../src/contract/admin/doctor.ts";
import type { Texts } from "../../texts.ts";

type Kind = DoctorAnswer["findings"][number]["kind"];

/** The title of each problem and the advice on it. */
export const doctorTexts: Texts<Record<Kind, { title: string; help: string }>> = {
  en: {
    refused_calls: {
      title: "Calls are refused",
      help: "Nothing in these calls was stored. The message below says what is wrong; fix the call and send it again.",
    },
    rejected_events: {
      title: "Events are not stored",
      help: "The call was answered with code 0, but extra.errors names events that were not stored. Read it in your client.",
    },
    bad_properties: {
      title: "Properties are dropped",
      help: "The event is stored without them. Names are letters, digits and _, texts have at most 2,048 bytes, and a declared type must match.",
    },
    undeclared_event: {
      title: "Undeclared events",
      help: "In strict mode they are lost until they are declared. In open mode they are stored; declaring them catches typos.",
    },
    encrypted_events: {
      title: "Encrypted events",
      help: "The SDK encrypts with a key that only the original service has. Switch event encryption off (enableEncrypt).",
    },
    time_unit: {
      title: "Time in the wrong unit",
      help: "`time` is in milliseconds since 1970: 13 digits. Seconds have 10, microseconds 16.",
    },
    clock_systematic: {
      title: "All clocks are off by the same amount",
      help: "Local time is sent as if it were UTC, or the clock of your server is wrong. Send milliseconds since 1970 in UTC, and use NTP.",
    },
    clock_skew: {
      title: "Phones with wrong clocks",
      help: "Events more than an hour ahead or ten days behind are not stored. If many phones are affected, send the server's time instead.",
    },
    unregistered_client: {
      title: "Clients that never register",
      help: "Their events are answered with code 2000 and are not stored. Call user/register or user/initialize first, with the same client_id.",
    },
    device_not_decrypted: {
      title: "Device info cannot be decrypted",
      help: "Use AES-ECB with PKCS7 and this app's aes_key (base64-decoded), output base64. Or send the plain object.",
    },
    debug_in_production: {
      title: "Debug mode is left on",
      help: "Many clients send Turbo-Debug-Mode: 1, one call for each event. Switch it off in the released version.",
    },
    placeholder_client_id: {
      title: "Placeholder client ID",
      help: "The variable was empty when it was sent. Everyone who sends it becomes one and the same user.",
    },
    shared_client_id: {
      title: "Several people share one client ID",
      help: "One client_id comes with different open IDs or devices: it is a constant, or the ID of something other than a person.",
    },
    openid_is_app_id: {
      title: "The open ID is the app's own ID",
      help: "wx_openid must be the player's openid (28 characters, from code2Session), not the mini-program's appid.",
    },
    shared_openid: {
      title: "Many clients share one open ID",
      help: "A developer's openid or a constant is sent for everyone. Clicks matched by openid would all go to it.",
    },
    shared_address: {
      title: "All users share one address",
      help: "If your server calls on their behalf, send the player's client_ip and client_ua. If a proxy stands in between, name it in TRUSTED_PROXIES.",
    },
    missing_user_agent: {
      title: "The user agent belongs to a program",
      help: "Clicks cannot be matched by IP and device model. From a server, send the client_ua of the player's device.",
    },
    nothing_to_attribute_by: {
      title: "Registrations carry nothing to attribute by",
      help: "Send ad_data (the launch query), wx_openid, or device_info with oaid, imei or idfa; otherwise every user is organic.",
    },
    unreplaced_macro: {
      title: "Unreplaced macros",
      help: "The ad platform sends the macro itself. Copy the campaign's link again into the platform's monitoring link field.",
    },
    touch_without_key: {
      title: "Clicks with nothing to match by",
      help: "They carry no click ID, device ID, open ID or IP address. Check the parameters of the monitoring link at this platform.",
    },
    unknown_campaign: {
      title: "Links of an unknown campaign",
      help: "track_id names no campaign of this app, so its users belong to none. Create the campaign or correct the link.",
    },
    amount_unit: {
      title: "Amounts look like yuan, not cents",
      help: "$pay_amount is a whole number in cents: 6 yuan are 600. A fraction cannot be cents.",
    },
    ecpm_unit: {
      title: "$ecpm looks like cents",
      help: "$ecpm is in yuan per thousand views. Nobody pays more than 1,000: divide by 100.",
    },
    payment_without_order_id: {
      title: "Payments without an order ID",
      help: "Without $order_id, a payment sent twice with different times counts twice. Send your order ID.",
    },
    repeated_order: {
      title: "One order ID for different payments",
      help: "Only the first report counts. Either client and server both report payments, or order IDs repeat.",
    },
    currency_without_rate: {
      title: "A currency without a rate",
      help: "These orders count with amount 0. Set the currency's rate in the app's settings.",
    },
    many_duplicates: {
      title: "Many repeated events",
      help: "Repeats count once, but a client is not reading the answers. Remove events from its queue once they are answered with code 0.",
    },
  },
  zh: {
    refused_calls: {
      title: "请求被拒绝",
      help: "这些请求的内容没有保存。下方说明了原因，修正后请重新发送。",
    },
    rejected_events: {
      title: "事件没有保存",
      help: "请求返回 code 0，但 extra.errors 列出了未保存的事件。请在客户端读取它。",
    },
    bad_properties: {
      title: "部分属性被忽略",
      help: "事件已保存，但不含这些属性。属性名只能是字母、数字和 _，文本不超过 2048 字节，类型须与声明一致。",
    },
    undeclared_event: {
      title: "未声明的事件",
      help: "严格模式下，未声明的事件会丢失；开放模式下会保存，但声明后可以及早发现拼写错误。",
    },
    encrypted_events: {
      title: "加密的事件",
      help: "SDK 使用只有原服务才有的密钥加密。请关闭事件加密（enableEncrypt）。",
    },
    time_unit: {
      title: "时间单位错误",
      help: "time 是毫秒时间戳，共 13 位；秒是 10 位，微秒是 16 位。",
    },
    clock_systematic: {
      title: "所有时钟都偏差相同的时间",
      help: "把本地时间当作 UTC 发送，或服务器时钟不准。请发送 UTC 毫秒时间戳，并使用 NTP 校时。",
    },
    clock_skew: {
      title: "手机时钟不准",
      help: "比服务器时间快 1 小时以上或慢 10 天以上的事件不会保存。如果很多手机如此，请改用服务器时间。",
    },
    unregistered_client: {
      title: "从未注册的客户端",
      help: "它们的事件返回 code 2000，不会保存。请先用相同的 client_id 调用 user/register 或 user/initialize。",
    },
    device_not_decrypted: {
      title: "设备信息无法解密",
      help: "请使用 AES-ECB、PKCS7 填充和本应用的 aes_key（base64 解码后），输出 base64；也可以直接发送明文对象。",
    },
    debug_in_production: {
      title: "调试模式没有关闭",
      help: "很多客户端发送了 Turbo-Debug-Mode: 1，每个事件一次请求。请在正式版本中关闭。",
    },
    placeholder_client_id: {
      title: "client_id 是占位值",
      help: "发送时变量为空。所有发送该值的人会变成同一个用户。",
    },
    shared_client_id: {
      title: "多个人使用同一个 client_id",
      help: "同一个 client_id 带有不同的 openid 或设备：它是常量，或不是用户的 ID。",
    },
    openid_is_app_id: {
      title: "openid 填成了应用的 appid",
      help: "wx_openid 应为玩家的 openid（28 位，来自 code2Session），而不是小程序的 appid。",
    },
    shared_openid: {
      title: "很多客户端的 openid 相同",
      help: "所有人都发送了开发者的 openid 或某个常量。按 openid 归因的点击会全部归到它。",
    },
    shared_address: {
      title: "所有用户的 IP 相同",
      help: "请求来自您的服务器：请传玩家的 client_ip 和 client_ua。若中间有代理，请在 TRUSTED_PROXIES 中配置。",
    },
    missing_user_agent: {
      title: "User agent 是程序而不是设备",
      help: "无法按 IP 与机型匹配点击。服务器端上报时，请传玩家设备的 client_ua。",
    },
    nothing_to_attribute_by: {
      title: "注册没有携带可归因的信息",
      help: "请传 ad_data（启动参数）、wx_openid，或带 oaid、imei、idfa 的 device_info，否则所有用户都是自然量。",
    },
    unreplaced_macro: {
      title: "宏没有被替换",
      help: "媒体原样发送了宏。请把推广计划的监测链接重新复制到媒体后台的监测链接栏。",
    },
    touch_without_key: {
      title: "点击没有可匹配的信息",
      help: "没有点击 ID、设备 ID、openid 或 IP。请检查该媒体监测链接的参数。",
    },
    unknown_campaign: {
      title: "链接属于不存在的推广计划",
      help: "track_id 不是本应用的推广计划，用户不会归到任何推广计划。请创建推广计划或修正链接。",
    },
    amount_unit: {
      title: "金额看起来是元而不是分",
      help: "$pay_amount 是以分为单位的整数：6 元为 600。带小数的金额不可能是分。",
    },
    ecpm_unit: {
      title: "$ecpm 看起来是分",
      help: "$ecpm 的单位是元/千次展示。超过 1000 元不合理，请除以 100。",
    },
    payment_without_order_id: {
      title: "付费没有订单号",
      help: "没有 $order_id 时，以不同时间重复上报的付费会计算两次。请传订单号。",
    },
    repeated_order: {
      title: "同一订单号对应不同的付费",
      help: "只有第一次上报有效。可能是客户端与服务器都上报了付费，或订单号重复。",
    },
    currency_without_rate: {
      title: "币种没有汇率",
      help: "这些订单按金额 0 计算。请在应用设置中填写该币种的汇率。",
    },
    many_duplicates: {
      title: "大量事件重复上报",
      help: "重复的只计算一次，但说明有人没有读取应答。返回 code 0 后请删除已发送的事件。",
    },
  },
};
