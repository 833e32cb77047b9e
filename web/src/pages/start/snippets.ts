/** The values that the snippets are filled with: all are the app's own, so that the snippets run unchanged. */
export type SnippetValues = {
  /** The address of this server, without a trailing slash. */
  baseUrl: string;
  appId: number;
  accessToken: string;
  currency: string;
  /** In an app that accepts only declared events, the snippet sends one that every app knows. */
  metadata: "open" | "strict";
  campaignId: string;
  adPlatform: string;
  /** Names the test player, their click and their order, so that running the same snippet again changes nothing. */
  player: string;
};

export const STEPS = ["click", "register", "event", "payment"] as const;
export type SnippetStep = (typeof STEPS)[number];

export const SNIPPET_LANGUAGES = ["curl", "javascript", "python", "go"] as const;
export type SnippetLanguage = (typeof SNIPPET_LANGUAGES)[number];

/** The comments in the snippets, in the reader's language. */
export type SnippetComments = Readonly<Record<SnippetStep | "begin" | "end", string>>;

/** A piece of code to copy; all blocks of a language in order are a complete program. */
export type Block = { step: SnippetStep | "begin" | "end"; code: string };

export function snippetOf(language: SnippetLanguage, values: SnippetValues, comments: SnippetComments): Block[] {
  const replacements = replacementsOf(values);
  const mark = language === "curl" || language === "python" ? "#" : "//";
  return TEMPLATES[language].map(({ step, code }) => ({
    step,
    code: filled(code, { ...replacements, COMMENT: `${mark} ${comments[step]}` }),
  }));
}

export function programOf(blocks: readonly Block[]): string {
  return `${blocks.map(({ code }) => code).join("\n\n")}\n`;
}

/** The parameters that link a click to its registration, for each platform that passes its own key to the game. */
const CLICK_KEYS: Readonly<Record<string, { link: string; launch: string }>> = {
  tencent: { link: "click_id", launch: "gdt_vid" },
  kuaishou: { link: "callback", launch: "callback" },
  bytedance: { link: "clue_token", launch: "clue_token" },
  baidu: { link: "bd_vid", launch: "bd_vid" },
};

function replacementsOf(values: SnippetValues): Readonly<Record<string, string>> {
  const { appId, campaignId, adPlatform, player } = values;
  const key = CLICK_KEYS[adPlatform];
  const click = `click-${player}`;
  const link = { app_id: String(appId), company: adPlatform, track_id: campaignId, [key?.link ?? "oaid"]: click };
  const found = key ? { ad_data: { [key.launch]: click } } : { device_info: { os_name: "android", oaid: click } };
  const isOpen = values.metadata === "open";
  return {
    BASE: `${values.baseUrl}/event_center/api/v1`,
    TOKEN: values.accessToken,
    PLAYER: player,
    LINK: `/event/click/?${new URLSearchParams(link)}`,
    REGISTRATION: insidesOf({ name: "Test player", channel: "base_channel", version: 1, ...found }),
    EVENT: isOpen ? "level_up" : "$MPShow",
    PROPERTIES: isOpen ? '{"level": 2}' : "{}",
    PAYMENT: `{"$pay_amount": 600, "$pay_type": "${values.currency}", "$order_id": "order-${player}"}`,
  };
}

/** The fields as JSON without its braces, to follow another field; all four languages accept it. */
function insidesOf(fields: object): string {
  return JSON.stringify(fields, null, 1)
    .replace(/\s*\n\s*/g, " ")
    .replace(/^\{ | \}$/g, "")
    .replaceAll(/([{[]) | ([}\]])/g, "$1$2");
}

function filled(template: string, replacements: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{([A-Z]+)\}\}/g, (_, name: string) => replacements[name]!).trim();
}

const CURL: readonly Block[] = [
  { step: "click", code: `{{COMMENT}}\ncurl '{{BASE}}{{LINK}}'` },
  {
    step: "register",
    code: `{{COMMENT}}
curl '{{BASE}}/user/register/?access_token={{TOKEN}}' \\
  -d '{"client_id": "{{PLAYER}}", {{REGISTRATION}}}'`,
  },
  {
    step: "event",
    code: `{{COMMENT}}
curl '{{BASE}}/event/collect/?access_token={{TOKEN}}' \\
  -d '{"client_id": "{{PLAYER}}", "event_list": [
       {"type": "track", "event": "{{EVENT}}", "time": '$(date +%s)000', "properties": {{PROPERTIES}}}]}'`,
  },
  {
    step: "payment",
    code: `{{COMMENT}}
curl '{{BASE}}/event/collect/?access_token={{TOKEN}}' \\
  -d '{"client_id": "{{PLAYER}}", "event_list": [
       {"type": "track", "event": "$PayEvent", "time": '$(date +%s)000', "properties":
        {{PAYMENT}}}]}'`,
  },
];

/** Mini-games have neither top-level await nor fetch, and only mini-games have wx. */
const JAVASCRIPT: readonly Block[] = [
  {
    step: "begin",
    code: `{{COMMENT}}
const BASE = "{{BASE}}";
const TOKEN = "{{TOKEN}}";
const PLAYER = "{{PLAYER}}";

function call(method, path, body) {
  const answered =
    typeof wx === "undefined"
      ? fetch(BASE + path, { method, body: JSON.stringify(body) }).then((reply) => reply.json())
      : new Promise((resolve, reject) => {
          wx.request({ url: BASE + path, method, data: body, success: ({ data }) => resolve(data), fail: reject });
        });
  return answered.then((answer) => {
    if (answer.code !== 0) throw new Error(answer.msg);
    return answer;
  });
}

function track(event, properties) {
  const event_list = [{ type: "track", event, time: Date.now(), properties }];
  return call("POST", "/event/collect/?access_token=" + TOKEN, { client_id: PLAYER, event_list });
}`,
  },
  { step: "click", code: `{{COMMENT}}\nconst click = () => call("GET", "{{LINK}}");` },
  {
    step: "register",
    code: `{{COMMENT}}
const register = () =>
  call("POST", "/user/register/?access_token=" + TOKEN, {
    "client_id": PLAYER, {{REGISTRATION}},
  });`,
  },
  { step: "event", code: `{{COMMENT}}\nconst play = () => track("{{EVENT}}", {{PROPERTIES}});` },
  { step: "payment", code: `{{COMMENT}}\nconst pay = () => track("$PayEvent", {{PAYMENT}});` },
  { step: "end", code: `{{COMMENT}}\nclick().then(register).then(play).then(pay).then(() => console.log("done"));` },
];

const PYTHON: readonly Block[] = [
  {
    step: "begin",
    code: `{{COMMENT}}
import json
import time
import urllib.request

BASE = "{{BASE}}"
TOKEN = "{{TOKEN}}"
PLAYER = "{{PLAYER}}"


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data), timeout=10) as reply:
        answer = json.load(reply)
    if answer["code"] != 0:
        raise RuntimeError(answer["msg"])


def track(event, properties):
    sent = {"type": "track", "event": event, "time": int(time.time() * 1000), "properties": properties}
    call("/event/collect/?access_token=" + TOKEN, {"client_id": PLAYER, "event_list": [sent]})`,
  },
  { step: "click", code: `{{COMMENT}}\ncall("{{LINK}}")` },
  {
    step: "register",
    code: `{{COMMENT}}
call("/user/register/?access_token=" + TOKEN, {
    "client_id": PLAYER, {{REGISTRATION}},
})`,
  },
  { step: "event", code: `{{COMMENT}}\ntrack("{{EVENT}}", {{PROPERTIES}})` },
  { step: "payment", code: `{{COMMENT}}\ntrack("$PayEvent", {{PAYMENT}})` },
];

const GO: readonly Block[] = [
  {
    step: "begin",
    code: `{{COMMENT}}
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const base = "{{BASE}}"
const token = "{{TOKEN}}"
const player = "{{PLAYER}}"

func call(method, path, body string) {
	request, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer reply.Body.Close()
	var answer struct {
		Code int    \`json:"code"\`
		Msg  string \`json:"msg"\`
	}
	if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil {
		panic(err)
	}
	if answer.Code != 0 {
		panic(answer.Msg)
	}
}

func track(event, properties string) {
	call("POST", "/event/collect/?access_token="+token, fmt.Sprintf(
		\`{"client_id": %q, "event_list": [{"type": "track", "event": %q, "time": %d, "properties": %s}]}\`,
		player, event, time.Now().UnixMilli(), properties))
}`,
  },
  { step: "click", code: `{{COMMENT}}\nfunc click() {\n\tcall("GET", "{{LINK}}", "")\n}` },
  {
    step: "register",
    code: `{{COMMENT}}
func register() {
	call("POST", "/user/register/?access_token="+token,
		\`{"client_id": "{{PLAYER}}", {{REGISTRATION}}}\`)
}`,
  },
  { step: "event", code: `{{COMMENT}}\nfunc play() {\n\ttrack("{{EVENT}}", \`{{PROPERTIES}}\`)\n}` },
  { step: "payment", code: `{{COMMENT}}\nfunc pay() {\n\ttrack("$PayEvent", \`{{PAYMENT}}\`)\n}` },
  { step: "end", code: `{{COMMENT}}\nfunc main() {\n\tclick()\n\tregister()\n\tplay()\n\tpay()\n}` },
];

const TEMPLATES: Readonly<Record<SnippetLanguage, readonly Block[]>> = {
  curl: CURL,
  javascript: JAVASCRIPT,
  python: PYTHON,
  go: GO,
};
