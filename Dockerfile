# The image holds the installed package and Node, no build tools. DATA_DIR is the volume /data.
FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm pack --pack-destination /packed

FROM node:20-bookworm-slim AS install
WORKDIR /app
COPY --from=build /packed/*.tgz /build/package-lock.json /tmp/packed/
# The lock file pins what the package needs, as `npm ci` does in a clone.
RUN tar -xzf /tmp/packed/*.tgz --strip-components=1 && cp /tmp/packed/package-lock.json . \
  && npm ci --omit=dev --no-audit --no-fund && rm -rf /tmp/packed

FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data DEMO_APP=off
RUN groupadd --gid 10001 touchpoint && useradd --uid 10001 --gid touchpoint --no-create-home --shell /usr/sbin/nologin touchpoint \
  && mkdir /data && chown touchpoint:touchpoint /data && chmod 700 /data \
  && ln -s /app/dist/bundle/cli.js /usr/local/bin/touchpoint
COPY --from=install /app /app
RUN chmod 755 /app/dist/bundle/cli.js
USER touchpoint
WORKDIR /data
VOLUME /data
EXPOSE 8080
# Alive, not ready: a server that refuses new data because the disk is short must not be restarted for it.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(a => process.exit(a.ok ? 0 : 1), () => process.exit(1))"]
# As process 1 the shell is replaced by the server itself, which stops cleanly on SIGTERM.
ENTRYPOINT ["sh", "/app/bin/start.sh", "/app/dist/bundle/main.js"]
