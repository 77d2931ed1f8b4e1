# One image for every program of the service; `command` says which: src/main/api.ts (as it is), worker.ts, console.ts, migrate.ts,
# cli.ts. The stage `simulator` adds the simulator of the authority and its packages. Node runs the TypeScript as it stands; only the workflows are bundled here, for their compiler
# needs a place to write and execute, which no container of ours has. docs/production.md has the whole.

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --workspaces=false --ignore-scripts --loglevel=error
# Not needed here: the Node that comes as a package, and Temporal's library for other machines with its sources.
RUN rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/@temporalio/core-bridge/sdk-core \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$(node -p 'process.arch === "arm64" ? "aarch64" : "x86_64"')-unknown-linux-gnu" -exec rm -r {} +
# Of the font two weights are drawn; its licence stays beside them.
RUN cd node_modules/@expo-google-fonts/noto-sans && find . -mindepth 1 -maxdepth 1 -type d ! -name 400Regular ! -name 700Bold -exec rm -r {} +
COPY src ./src
RUN node src/main/bundleWorkflows.ts workflow-bundle.js && rm -r node_modules/@swc/core*

FROM node:24.21.0-bookworm-slim AS programs
ENV NODE_ENV=production
ENV NODE_OPTIONS=--disable-warning=ExperimentalWarning
# Inside a container only; the compose file says what is reachable from outside.
ENV CFE_HOST=0.0.0.0
ENV CFE_WORKFLOW_BUNDLE=/app/workflow-bundle.js
ENV CFE_CLI_NAME="node src/main/cli.ts"
# Everyone is the user node here: who acts must say so by --by.
ENV CFE_CLI_BY=required
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/workflow-bundle.js ./
COPY package.json ./
COPY docs/guides ./docs/guides
COPY openapi.examples.json ./
COPY src ./src
USER node
EXPOSE 3000 3001 9464 9465 9466
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "src/main/healthCheck.ts", "http://127.0.0.1:9464/readyz"]
CMD ["node", "src/main/api.ts"]

FROM packages AS simulator-packages
COPY local/package.json ./local/
RUN npm ci --omit=dev --workspace=local --ignore-scripts --loglevel=error

FROM programs AS simulator
USER root
# Where the simulator keeps its data; a volume that is mounted here gets this owner.
RUN install -d -o node -g node /data
COPY --from=simulator-packages /app/node_modules ./node_modules
COPY local ./local
USER node

# The last stage is what `docker build .` makes: the service alone.
FROM programs
