import type { ReactNode } from "react";
import type { LakeState } from "../../../src/contract/analysis/asked.ts";
import { useAppQuery } from "../app-query.ts";
import { useTexts } from "../texts.ts";
import { Empty } from "../ui/empty.tsx";
import { QueryView } from "../ui/query-view.tsx";

const texts = {
  en: {
    none: "This server has no lake",
    noneHelp:
      "Questions about events are answered from files that the role “lake” writes. Ask a server whose ROLES include it; docs/LAKE.md says how.",
    preparing: "The events are being prepared",
    preparingHelp: "The first files of this app are being written. This page continues by itself, usually in a minute.",
  },
  zh: {
    none: "此服务器没有数据湖",
    noneHelp: "事件分析读取由角色 lake 写入的文件。请使用 ROLES 中包含 lake 的服务器，参见 docs/LAKE.md。",
    preparing: "正在准备事件数据",
    preparingHelp: "正在写入此应用的首批文件，完成后页面会自动继续，通常不超过一分钟。",
  },
};

const ASK_AGAIN_MS = 3_000;

/** Shows the page once the app's events can be asked about; until then, what it is waiting for. */
export function LakeGate({ children }: { children: ReactNode }) {
  const text = useTexts(texts);
  const query = useAppQuery<LakeState>("analysis", {
    refetchInterval: ({ state }) => (state.data?.lake === "preparing" ? ASK_AGAIN_MS : false),
  });
  return (
    <QueryView query={query}>
      {({ lake }) => {
        if (lake === "ready") return children;
        return (
          <section className="card">
            <Empty title={text[lake]}>
              <p>{lake === "none" ? text.noneHelp : text.preparingHelp}</p>
            </Empty>
          </section>
        );
      }}
    </QueryView>
  );
}
