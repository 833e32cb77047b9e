import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { followLanguage } from "./texts.ts";
import { followTheme } from "./theme.ts";
import "./ui/theme.css";
import "./ui/base.css";
import "./ui/controls.css";
import "./ui/data.css";

followTheme();
followLanguage();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
