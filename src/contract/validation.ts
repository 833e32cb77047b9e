import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { ApiError } from "../errors.ts";

/**
 * The rules under which bodies are checked: nothing is coerced, filled in or taken away, and keys that are not in the
 * schema are nobody's business.
 */
const ajv = new Ajv({
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  allowUnionTypes: true,
});

/** For a structure that arrives inside another one; undefined when it is valid. */
export function messageOfInvalid(schema: object, value: unknown): string | undefined {
  return ajv.validate(schema, value) ? undefined : sentenceOf(ajv.errors ?? []);
}

export type Validate = (value: unknown) => void;

/** Throws the refusal that names the parameter. */
export function validatorOf(schema: object): Validate {
  const validate = ajv.compile(schema);
  return (value) => {
    if (!validate(value)) throw new ApiError("badParameter", sentenceOf(validate.errors ?? []));
  };
}

/**
 * For the framework, which looks for the errors on the function itself. Compiled when a request first needs it, or when
 * `later` finds the time: to compile the schemas of all routes would take a third of the server's start.
 */
export function routeValidatorOf(schema: object, later: (compile: () => void) => void = () => {}): ValidateFunction {
  let made: ValidateFunction | undefined;
  const compile = (): ValidateFunction => {
    made ??= ajv.compile(schema);
    return made;
  };
  later(compile);
  const validate = (value: unknown) => {
    const compiled = compile();
    const isValid = compiled(value);
    validate.errors = compiled.errors;
    return isValid;
  };
  validate.errors = undefined as ValidateFunction["errors"];
  return validate as ValidateFunction;
}

/** One sentence that names the parameter. Of the branches of an `anyOf`, the first describes what is wanted. */
export function sentenceOf(errors: readonly Partial<ErrorObject>[]): string {
  const error = errors.find((candidate) => candidate.keyword !== "anyOf") ?? errors[0];
  if (!error) return "A parameter is wrong.";
  const path = (error.instancePath ?? "").slice(1).replaceAll("/", ".");
  const params = error.params as
    | { missingProperty?: string; allowedValues?: unknown[]; type?: string | string[] }
    | undefined;
  if (error.keyword === "required") return `${[path, params?.missingProperty].filter(Boolean).join(".")} is missing.`;
  const name = path || "The body";
  if (error.keyword === "enum")
    return `${name} must be one of ${params?.allowedValues?.filter((value) => value !== "").join(", ")}.`;
  if (error.keyword === "type")
    return `${name} must be ${[params?.type]
      .flat()
      .filter((type) => type !== "null")
      .join(" or ")}.`;
  return `${name} ${error.message}.`;
}
