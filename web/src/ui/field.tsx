import { type ComponentProps, type ReactNode, useId } from "react";

type Labelled = { label: string; hint?: ReactNode; problem?: string | undefined };

/** Attributes that every control of a field shares. */
type Attributes = { id: string; className: string; "aria-describedby": string | undefined; "aria-invalid": boolean };

type FrameProps = Labelled & { children: (attributes: Attributes) => ReactNode };

/** A label above a control, and a hint or a problem below it. */
export function Frame({ label, hint, problem, children }: FrameProps) {
  const id = useId();
  const describedBy = hint || problem ? `${id}-about` : undefined;
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({ id, className: "input", "aria-describedby": describedBy, "aria-invalid": problem !== undefined })}
      {describedBy && (
        <span id={describedBy} className={problem ? "problem" : "hint"} role={problem ? "alert" : undefined}>
          {problem ?? hint}
        </span>
      )}
    </div>
  );
}

type Changing<Element extends "input" | "textarea" | "select"> = Omit<ComponentProps<Element>, "onChange" | "value"> &
  Labelled & { value: string; onChange: (value: string) => void };

type TextFieldProps = Changing<"input"> & { suggestions?: readonly Choice[] };

export function TextField({ label, hint, problem, onChange, suggestions = [], ...rest }: TextFieldProps) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <Suggested choices={suggestions}>
          {(list) => <input {...rest} {...attributes} list={list} onChange={(event) => onChange(event.target.value)} />}
        </Suggested>
      )}
    </Frame>
  );
}

type SuggestedProps = { choices: readonly Choice[]; children: (list: string | undefined) => ReactNode };

/** An input with suggestions; any other value can be typed too. */
export function Suggested({ choices, children }: SuggestedProps) {
  const id = useId();
  const isEmpty = choices.length === 0;
  return (
    <>
      {children(isEmpty ? undefined : id)}
      {!isEmpty && (
        <datalist id={id}>
          {choices.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

type PasswordFieldProps = Omit<Changing<"input">, "type" | "autoComplete"> & { kind: "current" | "new" };

/** The browser offers to fill in the current password or to save a new one. */
export function PasswordField({ kind, ...rest }: PasswordFieldProps) {
  return <TextField {...rest} type="password" autoComplete={`${kind}-password`} required />;
}

/** A code of the second factor. The browser may offer it, and shows digits on a phone. */
export function CodeField(props: Omit<Changing<"input">, "type" | "autoComplete">) {
  return <TextField {...props} inputMode="text" autoComplete="one-time-code" maxLength={100} autoFocus required />;
}

export function TextArea({ label, hint, problem, onChange, ...rest }: Changing<"textarea">) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {(attributes) => <textarea {...rest} {...attributes} onChange={(event) => onChange(event.target.value)} />}
    </Frame>
  );
}

export type Choice = { value: string; label: string };

export function SelectField({
  label,
  hint,
  problem,
  onChange,
  choices,
  ...rest
}: Changing<"select"> & { choices: readonly Choice[] }) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <select {...rest} {...attributes} onChange={(event) => onChange(event.target.value)}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Frame>
  );
}

type CheckProps = { label: ReactNode; checked: boolean; onChange: (checked: boolean) => void; disabled?: boolean };

export function Check({ label, checked, onChange, disabled = false }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}
