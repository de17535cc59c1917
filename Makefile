# Interlock. `make` alone lists the targets; docs/dev/testing.md explains them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN := $(CURDIR)/bin
# Another version of Kubernetes for tests than that of test/controlplane: make test KUBERNETES=1.34.4.
KUBERNETES ?=
# A checkout of OCM's repository, to test with another version of OCM: make test OCM_SOURCE=../ocm.
OCM_SOURCE ?=
ifneq ($(OCM_SOURCE),)
export OCM_ASSETS := $(BIN)/ocm-from-source
endif
# Where tests find kube-apiserver and etcd. Absolute, as tests run in their own folders.
ASSETS := $(abspath $(if $(KUBERNETES),$(BIN)/kubernetes/v$(KUBERNETES:v%=%),$(or $(KUBEBUILDER_ASSETS),$(BIN))))
# Programs that are not Interlock's own, by the names of sets in hack/binaries.
BINARIES = go run ./hack/binaries -bin $(BIN)
VERSION ?= $(shell git describe --tags --match 'v*' --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X open-cluster-management.io/interlock/pkg/version.Version=$(VERSION)

# Whatever has a main.go; the folders appear as Interlock grows.
COMMANDS := $(patsubst cmd/%/main.go,%,$(wildcard cmd/*/main.go))
# The benchmark is a module of its own: users of Interlock's packages do not inherit its charts' libraries.
BENCHMARK := test/benchmark
# Modules of their own that the linter checks, like the main module. `./...` does not reach into them.
LINTED_MODULES := pkg/apis pkg/author test/resolution test/browser $(BENCHMARK)
# Of the others, which have code but are not shipped, it checks only the format: for two mains of a few lines in
# test/controlplane a linter would have to read all of Kubernetes, which takes longer than to compile it.
OTHER_MODULES := test/controlplane test/ocm test/clusteradm test/kind test/upstream hack/images hack/deployment hack/alerts hack/gitops hack/release hack/clireference hack/schemas
# The examples have dependencies that the main module is to stay free of.
EXAMPLES := $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod))

# Every go command here compiles in the same way, so that binaries, tests and
# linter share what is in Go's build cache. No C compiler is needed, except by
# the race detector, and binaries are static.
# Without debug information, which the shipped binaries lack anyway, a cold build takes an eighth less. Stack traces and
# profiles do not need it; a debugger does, so call `go test` yourself for one.
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath -gcflags=all=-dwarf=false

# The linter's cache belongs to the checkout: a cache that several share answers with
# positions in a folder that may be gone, where no //nolint is found any more.
export GOLANGCI_LINT_CACHE := $(BIN)/.golangci-lint
# The linter of API types is a plugin, and comes with a golangci-lint of its own.
KUBE_API_LINTER := go tool -modfile=$(CURDIR)/hack/tools/kube-api-linter/go.mod golangci-lint-kube-api-linter
LOGCHECK := go tool -modfile=$(CURDIR)/hack/tools/logcheck/go.mod logcheck
ACTIONLINT := go tool -modfile=hack/tools/actionlint/go.mod actionlint
GOLANGCI_LINT := go tool -modfile=$(CURDIR)/hack/tools/golangci-lint/go.mod golangci-lint

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: tools-present
tools-present:
	@hack/tools-present.sh

.PHONY: build
build: tools-present ## build the binaries into bin/ (static, stamped with the version)
	@if [ -z "$(COMMANDS)" ]; then echo "build: nothing in cmd/"; exit 0; fi; \
	mkdir -p $(BIN); echo "build: compiling $(COMMANDS)"; \
	go build -ldflags '$(LDFLAGS)' -o $(BIN)/ $(addprefix ./cmd/,$(COMMANDS)); \
	echo "build: $(VERSION) in $(BIN)"

.PHONY: control-plane
control-plane: tools-present ## build kube-apiserver and etcd into bin/, unless KUBEBUILDER_ASSETS has them (KUBERNETES=1.37.2: another version)
	@$(BINARIES) $(if $(KUBERNETES),-kubernetes $(KUBERNETES)) control-plane

.PHONY: ocm
ocm: control-plane ## build OCM's own components into bin/ocm, unless OCM_ASSETS has them (OCM_SOURCE=../ocm: from a checkout of OCM), and kube-controller-manager
	@$(BINARIES) $(if $(KUBERNETES),-kubernetes $(KUBERNETES)) controller-manager
	@$(if $(OCM_SOURCE),hack/ocm-from-source.sh '$(OCM_SOURCE)' $(BIN)/ocm-from-source,$(BINARIES) ocm)

.PHONY: addons
addons: tools-present ## build the managers of cluster-proxy and managed-serviceaccount, add-ons of OCM, into bin/addons
	@$(BINARIES) addons

.PHONY: clusteradm
clusteradm: tools-present ## build clusteradm into bin/
	@$(BINARIES) clusteradm

.PHONY: node
node: control-plane ## build what else a real node consists of, for e2e
	@$(BINARIES) controller-manager node

.PHONY: generate
generate: tools-present ## write deepcopy methods, manifests/crds, schemas, pages of alerts, the page of kubectl addon ui, docs/cli.md and docs/crds.md
	@hack/generate.sh

.PHONY: tidy
tidy: tools-present ## tidy go.mod and go.sum of every module
	@hack/each-module.sh go mod tidy

.PHONY: verify
verify: tools-present ## check that generated files and go.mod are current; changes nothing
	@hack/verify-generated.sh
	@hack/verify-tidy.sh

.PHONY: lint
lint: tools-present ## run golangci-lint, kube-api-linter, logcheck and actionlint
	@echo "lint: golangci-lint (built on first use, about a minute)"; $(GOLANGCI_LINT) run ./...
	@for module in $(LINTED_MODULES); do echo "lint: golangci-lint in $$module"; (cd $$module && $(GOLANGCI_LINT) run ./...); done
	@echo "lint: API types"; cd pkg/apis && $(KUBE_API_LINTER) run -c $(CURDIR)/hack/tools/kube-api-linter/golangci.yml ./...
	@echo "lint: log calls"; $(LOGCHECK) -check-contextual ./cmd/... ./pkg/...; cd pkg/author && $(LOGCHECK) -check-contextual ./...
	@echo "lint: workflows"; $(ACTIONLINT) -shellcheck= -pyflakes=
	@echo "lint: format of $(OTHER_MODULES) $(EXAMPLES)"; unformatted=$$(gofmt -l $(OTHER_MODULES) $(EXAMPLES)); \
	[ -z "$$unformatted" ] || { echo "not formatted by gofmt: $$unformatted" >&2; exit 1; }
	@for example in $(EXAMPLES); do echo "lint: go vet of $$example"; (cd $$example && go vet ./...); done

.PHONY: fmt
fmt: tools-present ## format the Go code
	@$(GOLANGCI_LINT) fmt ./...
	@for module in $(LINTED_MODULES); do (cd $$module && $(GOLANGCI_LINT) fmt ./...); done

.PHONY: test
test: build ocm addons clusteradm ## run the tests of Interlock, fuzz seeds included, on real API servers and OCM
	@echo "test: unit tests"; KUBEBUILDER_ASSETS=$(ASSETS) hack/test-unit.sh
	@echo "test: pages in a browser"; hack/test-browser.sh
	@for example in $(EXAMPLES); do echo "test: $$example"; (cd $$example && go build -o $(BIN)/ . && go test ./...); done
	@echo "test: integration tests on the API server in $(ASSETS)"; \
	[ -t 1 ] || export GINKGO_NO_COLOR=TRUE; \
	KUBEBUILDER_ASSETS=$(ASSETS) hack/test-integration.sh; \
	KUBEBUILDER_ASSETS=$(ASSETS) go test -C $(BENCHMARK) -v -timeout 10m ./integration

.PHONY: test-release
test-release: build control-plane ## test what only a release needs: images, charts, deploy/, alerts, copies of the examples, patches for OCM
	@echo "test: images and deploy/"; hack/test-modules.sh
	@hack/test-example-copies.sh
	@echo "test: the patches for OCM"; $(MAKE) --no-print-directory upstream

.PHONY: test-schedules
test-schedules: tools-present ## explore the schedules of installations with one intervention more than make test does, in minutes and with 4 GiB
	go test ./test/stability -run TestEveryInstallationEnds -count=1 -timeout 30m -v -args -interventions 3

.PHONY: test-crashes
test-crashes: build ocm ## try every fault at every write of addon-manager, with two leaders for a moment too; make test tries crashes only
	KUBEBUILDER_ASSETS=$(ASSETS) INTERLOCK_BIN=$(BIN) go test ./test/integration/crash -count=1 -timeout 2h -v -args -all-faults -ginkgo.timeout 2h

# The suites in which programs act on what others have written.
SCRAMBLED ?= hub order protection installation guard stack

.PHONY: test-scrambled
test-scrambled: build ocm ## run the suites SCRAMBLED with messages in which no word is left, because no program may read one
	@KUBEBUILDER_ASSETS=$(ASSETS) hack/test-scrambled.sh $(SCRAMBLED)

# Not from Go's cache of results: it does not see the patches, which are outside of the module.
.PHONY: upstream
upstream: control-plane ## build and test OCM's own modules with the patches in upstream/
	@KUBEBUILDER_ASSETS=$(ASSETS) go test -C test/upstream -v -count=1 ./...

.PHONY: demo
demo: demo-duration build ocm ## play the main job on a hub and managed clusters (KEEP=1 keeps them running)
	@KUBEBUILDER_ASSETS=$(ASSETS) go run ./test/demo

# The first run also downloads the modules that are compiled later.
.PHONY: demo-duration
demo-duration: tools-present
	@if [ -e $(BIN)/ocm.sum ]; then echo "demo: takes about a minute, and longer where something has to be compiled"; else \
	echo "demo: the first run compiles Kubernetes' control plane, OCM and Interlock. On 2 cores it takes about 6 minutes, and more for the download. Later runs take a minute."; \
	(go list -C test/controlplane -deps ./kube-apiserver ./etcd ./kube-controller-manager; go list -C test/ocm -deps ./ocm) >/dev/null 2>&1 & fi

BENCH := KUBEBUILDER_ASSETS=$(ASSETS) go run -C $(BENCHMARK)

.PHONY: bench
bench: build control-plane ## measure 1,000 clusters with 10 add-ons each, in about 20 minutes; fails when a bound is missed
	@$(BENCH) . --name standard --clusters 1000 --addons 10 --repetitions 2
	@$(BENCH) ./conversion

.PHONY: bench-large
bench-large: build control-plane ## measure memory, start and reaction with 5,000 clusters and 20 add-ons each
	@$(BENCH) . --name large --clusters 5000 --addons 20 --scenarios 3,4,5

.PHONY: bench-ordering
bench-ordering: build control-plane ocm ## measure what order costs on a hub of real OCM: 100 clusters with 10 add-ons each
	@$(BENCH) ./ordering

.PHONY: bench-document
bench-document: ## write docs/performance.md and its charts from what bench and bench-large have found
	@$(BENCH) . document

# Where images are to be found later: the registry's name and what stands before the program's.
IMAGE_PREFIX ?= quay.io/open-cluster-management/interlock-
IMAGES := addon-manager addon-agent

.PHONY: images
images: tools-present ## build images of addon-manager and addon-agent into bin/images (PLATFORMS=linux/amd64: for one only; PUSH=1: copy them to IMAGE_PREFIX too)
	@go run -C hack/images . -C $(CURDIR) -out $(BIN)/images -repository-prefix '$(IMAGE_PREFIX)' -version '$(VERSION)' \
	  -revision "$$(git rev-parse HEAD)" -created "$$(git log -1 --format=%ct)" \
	  -ldflags '$(LDFLAGS)' $(if $(PLATFORMS),-platforms '$(PLATFORMS)') $(if $(PUSH),-push) $(foreach name,$(IMAGES),$(name)=./cmd/$(name))

# Where the chart is pushed to, if not beside the images; and what links in the release lead to.
CHARTS ?=
SOURCE_URL ?=
DOWNLOAD_URL ?=

.PHONY: release
release: tools-present ## make all that users download, into bin/release: VERSION=v0.1.0 (PUSH=1: copy images and chart to IMAGE_PREFIX and CHARTS too)
	@go run -C hack/release . -C $(CURDIR) -out $(BIN)/release -version '$(VERSION)' -image-prefix '$(IMAGE_PREFIX)' -charts '$(CHARTS)' \
	  -source '$(SOURCE_URL)' -download-url '$(DOWNLOAD_URL)' -pushed $(BIN)/release-pushed.txt $(if $(PUSH),-push) $(if $(INSECURE),-insecure) $(if $(STRICT),-strict)

# What depends on a path, a time or the order of files would differ in a clone.
.PHONY: release-verify
release-verify: release ## make the release once more, from a clone of the commit, and compare the bytes (COLD=1: compile everything anew)
	@clone=$$(mktemp -d); trap 'rm -rf "$$clone"' EXIT; git clone --quiet . "$$clone/interlock"; \
	$(if $(COLD),export GOCACHE="$$clone/cache";) $(MAKE) --no-print-directory -C "$$clone/interlock" release PUSH=; \
	diff $(BIN)/release/SHA256SUMS "$$clone/interlock/bin/release/SHA256SUMS" || { \
	  echo "release-verify: the clone's files differ; commit all changes first" >&2; exit 1; }; \
	echo "release-verify: $$(wc -l <$(BIN)/release/SHA256SUMS) files are the same in both"

# Where the images go, and the pods get them from: a registry, or a repository of one, without the protocol.
REGISTRY ?=
# Values of the chart: make install REGISTRY=... SET='agent.install=true reports=all'.
SET ?=

.PHONY: registry-given
registry-given:
	@[ -n '$(REGISTRY)' ] || { echo 'error: set REGISTRY to where your images are to be, such as REGISTRY=registry.example.com/team' >&2; exit 2; }

HUB_UPGRADE = $(BIN)/kubectl-addon hub upgrade --install deploy/charts/interlock --registry '$(REGISTRY)' \
  $(foreach value,$(SET),--set '$(value)') $(if $(INSECURE),--insecure)

# Images take minutes to build, so the hub and the registry are checked before.
.PHONY: install
install: registry-given build ## check the hub, build the images, push them to REGISTRY, and install or upgrade Interlock on the hub of kubectl's current context (SET='agent.install=true': values of the chart; DRY_RUN=1: only check; INSECURE=1: the registry is on loopback, without TLS)
ifdef DRY_RUN
	@$(HUB_UPGRADE) --dry-run
else
	@echo 'Checking the hub'
	@$(HUB_UPGRADE) --dry-run >$(BIN)/preflight.txt || { code=$$?; cat $(BIN)/preflight.txt; exit $$code; }
	@$(MAKE) --no-print-directory images PUSH= IMAGE_PREFIX='$(REGISTRY)/interlock-'
	@$(HUB_UPGRADE) --images $(BIN)/images
endif

.PHONY: uninstall
uninstall: build ## uninstall what make install has installed
	@$(BIN)/kubectl-addon hub uninstall

# What the current context of kubectl is, is deployed to. Images as `make images PUSH=1` names them.
KUBECTL ?= kubectl

.PHONY: deploy
deploy: tools-present ## install Interlock on the hub of kubectl's current context, with the images of IMAGE_PREFIX and VERSION (AGENT=1: addon-agent as an add-on too)
	@IMAGE='$(IMAGE_PREFIX)addon-manager:$(VERSION)' $(if $(AGENT),AGENT_IMAGE='$(IMAGE_PREFIX)addon-agent:$(VERSION)') \
	  KUBECTL='$(KUBECTL)' hack/deploy.sh apply

.PHONY: undeploy
undeploy: tools-present ## take back what Interlock wrote to that hub, then delete it
	@go run -ldflags '$(LDFLAGS)' ./cmd/addon-manager uninstall
	@KUBECTL='$(KUBECTL)' hack/deploy.sh delete

.PHONY: e2e
e2e: tools-present node ## run test/e2e on two real nodes on this machine, with OCM installed by clusteradm (Linux, root, containerd; FOCUS=text for some specs)
	@$(BINARIES) clusteradm helm
	@hack/e2e.sh

.PHONY: e2e-release
e2e-release: tools-present node build ## make a release, push it to a registry on loopback, and install it from there on real nodes, with Helm and with kubectl (as e2e)
	@$(BINARIES) clusteradm helm kubectl crane
	@hack/e2e-release.sh

.PHONY: kind-tools
kind-tools: tools-present ## build kind, kubectl, Helm and clusteradm into bin/
	@$(BINARIES) kind kubectl helm clusteradm

.PHONY: kind-node
kind-node: node ## build an image for kind's nodes from Debian's packages and Go modules, where no registry can be reached (docker, debootstrap)
	@$(BINARIES) kubectl kubeadm kind-node
	@hack/kind-node.sh

.PHONY: kind-try
kind-try: $(if $(DRY_RUN),,kind-tools) ## run docs/kind.md without the removal, and keep the clusters to try Interlock on (docker; KIND_NODE_IMAGE=image for their nodes, DRY_RUN=1: only print the commands)
	@hack/kind-try.sh

.PHONY: e2e-kind
e2e-kind: kind-tools ## run docs/kind.md and test/e2e on three kind clusters (docker; KIND_NODE_IMAGE=image for their nodes, FOCUS=text for some specs)
	@hack/e2e-kind.sh

.PHONY: clean
clean: ## remove bin/; Go's own caches stay
	rm -rf $(BIN)
