# memoryd alone on an empty image, as a user without rights.
FROM golang:1.26.0-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
# Without grpc's traces, which memoryd does not serve, the linker leaves out unused methods: 13 MB.
RUN CGO_ENABLED=0 go build -trimpath -tags grpcnotrace -ldflags "-s -w -X main.release=$VERSION" \
      -o /memoryd ./cmd/memoryd && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /memoryd /memoryd
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
ENV MEMORYD_DATA=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["/memoryd", "ready"]
ENTRYPOINT ["/memoryd"]
