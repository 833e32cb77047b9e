import type { ComponentProps } from "react";

export type ButtonLook = "plain" | "main" | "danger" | "quiet";

type ButtonProps = ComponentProps<"button"> & { look?: ButtonLook; size?: "normal" | "small" };

export function Button({ look = "plain", size = "normal", className = "", ...rest }: ButtonProps) {
  return <button type="button" className={`button ${look} ${size} ${className}`} {...rest} />;
}
