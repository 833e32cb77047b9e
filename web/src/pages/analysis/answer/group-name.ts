import { useDimensionValue } from "../../../report/dimension-value.ts";
import { useTexts } from "../../../texts.ts";
import { questionTexts } from "../question-texts.ts";
import { texts } from "../texts.ts";

type Group = { kind: "all" | "group" | "other"; group: string };

/** The name of a group of users. */
export function useGroupName(split: string | undefined): (group: Group) => string {
  const { all } = useTexts(questionTexts);
  const { other } = useTexts(texts);
  const valueText = useDimensionValue();
  return ({ kind, group }) => (kind === "all" ? all : kind === "other" ? other : valueText(split ?? "", group));
}
