import type { KnownNames } from "../../analysis/names.ts";
import { useTexts } from "../../texts.ts";
import { texts } from "./texts.ts";
import { eventName, type Name, propertyColumn, propertyName, VIEWS } from "./views.ts";

type NameListProps = { known: KnownNames; onInsert: (text: string) => void };

/** The names that a statement can use; a click inserts one. */
export function NameList({ known, onInsert }: NameListProps) {
  const text = useTexts(texts);
  const properties = (scope: "event" | "user") =>
    known.properties.filter((one) => one.scope === scope).map(({ name }) => name);
  return (
    <aside className="card stack tight sql-names" aria-label={text.names}>
      <h2>{text.names}</h2>
      <p className="soft small">{text.namesAbout}</p>
      {Object.entries(VIEWS).map(([view, columns]) => (
        <details key={view} open={view === "events"}>
          <summary>
            <code>{view}</code>
          </summary>
          <Names names={[view, ...columns].map((name) => ({ name, text: name }))} onInsert={onInsert} />
        </details>
      ))}
      <Group title={text.events} names={known.events.map(eventName)} onInsert={onInsert} />
      <Group title={text.eventProperties} names={properties("event").map(propertyColumn)} onInsert={onInsert} />
      <Group title={text.userProperties} names={properties("user").map(propertyName)} onInsert={onInsert} />
    </aside>
  );
}

type NamesProps = { names: readonly Name[]; onInsert: (text: string) => void };

function Group({ title, ...rest }: NamesProps & { title: string }) {
  if (rest.names.length === 0) return null;
  return (
    <details>
      <summary>{title}</summary>
      <Names {...rest} />
    </details>
  );
}

function Names({ names, onInsert }: NamesProps) {
  const text = useTexts(texts);
  return (
    <ul>
      {names.map((one) => (
        <li key={one.name}>
          <button type="button" className="mono" title={text.insert(one.text)} onClick={() => onInsert(one.text)}>
            {one.name}
          </button>
        </li>
      ))}
    </ul>
  );
}
