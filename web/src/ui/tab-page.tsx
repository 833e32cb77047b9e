import type { ComponentType } from "react";
import { useUrlTab } from "../url-state.ts";
import { PageHead } from "./page-head.tsx";
import { Tabs } from "./tabs.tsx";

type TabPageProps<Name extends string> = {
  title: string;
  about: string;
  tabs: Readonly<Record<Name, string>>;
  /** The content of each tab, in order; only the chosen one is mounted. */
  contents: Readonly<Record<Name, ComponentType>>;
};

/** A page that is made of tabs. */
export function TabPage<Name extends string>({ title, about, tabs, contents }: TabPageProps<Name>) {
  const names = Object.keys(contents) as Name[];
  const [chosen, choose] = useUrlTab(names);
  const Content: ComponentType = contents[chosen];
  return (
    <>
      <PageHead title={title} about={about} />
      <Tabs tabs={names.map((name) => ({ name, title: tabs[name] }))} chosen={chosen} onChoose={choose}>
        <Content />
      </Tabs>
    </>
  );
}
