export const texts = {
  en: {
    title: "Processes",
    host: "Machine and process",
    address: "Address",
    roles: "Roles",
    version: "Version",
    started: "Started",
    sign: "Last sign of life",
    alive: "now",
    stuck: "does not apply",
  },
  zh: {
    title: "进程",
    host: "机器与进程号",
    address: "地址",
    roles: "角色",
    version: "版本",
    started: "启动时间",
    sign: "最近心跳",
    alive: "刚刚",
    stuck: "未写入数据表",
  },
};
