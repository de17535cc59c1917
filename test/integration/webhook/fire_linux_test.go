package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/conversion"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/webhook/admission"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	// podLimit is the memory limit of deploy/hub. goLimit is the limit that the process derives from it.
	podLimit = 256 << 20
	goLimit  = podLimit / 10 * 9
	// rounds is how often the API server needs each webhook under fire.
	rounds = 20
)

// hostile is a client that repeats an attack on a connection of its own.
type hostile struct {
	name string
	// request returns the headers, without the first line, and the body.
	path string
	// body is shared by all connections. A string would be copied for each of them.
	body []byte
	// slowly is whether the client sends a byte at a time, and never ends.
	slowly bool
	// deaf clients do not read responses.
	deaf bool
	// silent clients send nothing.
	silent bool
	// header is the length of an overlong header.
	header int
}

func admissionReview(object string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","kind":{"version":"v1alpha1"},` +
		`"operation":"CREATE","object":` + object + "}}"
}

// hostiles returns all attacks. They are created once, because each body takes memory of the test.
func hostiles() []hostile {
	largeBody := strings.Replace(review(1), `"x"`, `"`+strings.Repeat("x", 55<<20)+`"`, 1)
	convertible := review(200_000)
	object := func(spec string) string {
		return fmt.Sprintf(`{"apiVersion":%q,"kind":"ClusterManagementAddOn","metadata":{"name":"x"},"spec":%s}`, storage, spec)
	}
	reviewOf := func(object string) string {
		return strings.Replace(review(1), review(1)[strings.Index(review(1), `[{`)+1:strings.Index(review(1), `]}`)], object, 1)
	}
	deep := strings.Repeat("[", 6<<20)
	return []hostile{
		{name: "55 MiB in one object", path: conversion.Path, body: []byte(largeBody)},
		{name: "30 MiB of objects", path: conversion.Path, body: []byte(convertible)},
		{name: "30 MiB of objects, and no one reads the response", path: conversion.Path, body: []byte(convertible), deaf: true},
		{name: "a million small objects", path: conversion.Path, body: []byte(reviewOf(strings.Repeat("{},", 1_000_000) + "{}"))},
		{
			name: "a million small configurations", path: conversion.Path,
			body: []byte(reviewOf(object(`{"supportedConfigs":[` + strings.Repeat("{},", 1_000_000) + "{}]}"))),
		},
		{
			name: "many objects that grow", path: conversion.Path,
			body: []byte(reviewOf(strings.Repeat(object(`{"supportedConfigs":[`+strings.Repeat("{},", 5000)+"{}]}")+",", 500) + "{}")),
		},
		{name: "nested deep, to conversion", path: conversion.Path, body: []byte(reviewOf(deep))},
		{name: "nested deep, to admission", path: admission.Path, body: []byte(admissionReview(deep))},
		{name: "nested deep, to the guard", path: guard.Path, body: []byte(admissionReview(deep))},
		{
			name: "a million dependencies", path: admission.Path,
			body: []byte(admissionReview(object(`{"dependencies":[` + strings.Repeat("{},", 1_000_000) + "{}]}"))),
		},
		{
			name: "a million conditions", path: guard.Path,
			body: []byte(admissionReview(`{"status":{"conditions":[` + strings.Repeat("{},", 1_000_000) + "{}]}}")),
		},
		{name: "YAML", path: admission.Path, body: []byte("a: [" + strings.Repeat("b,", 3<<20) + "]")},
		{
			name: "YAML in an annotation", path: admission.Path,
			body: []byte(admissionReview(fmt.Sprintf(
				`{"metadata":{"name":"x","annotations":{"addon.open-cluster-management.io/dependencies":"%s"}}}`, strings.Repeat(`- {}\n`, 6_600),
			))),
		},
		{
			name: "a long uid, to conversion", path: conversion.Path,
			body: []byte(strings.Replace(review(0), `"uid":"`, `"uid":"`+strings.Repeat("<", 40<<20), 1)),
		},
		{
			name: "a long uid, to admission", path: admission.Path,
			body: []byte(strings.Replace(admissionReview("{}"), `"uid":"`, `"uid":"`+strings.Repeat("<", 6<<20), 1)),
		},
		{
			name: "a million groups", path: admission.Path,
			body: []byte(strings.Replace(admissionReview("{}"), `"uid"`, `"groups":[`+strings.Repeat(`"",`, 1_000_000)+`""],"uid"`, 1)),
		},
		{
			name: "as many placements as are decoded", path: admission.Path,
			body: []byte(admissionReview(object(`{"installStrategy":{"placements":[` + strings.Repeat("1,", 59_000) + "1]}}"))),
		},
		{
			name: "more than a review may have", path: admission.Path,
			body: []byte(admissionReview(object(`{"addOnMeta":"` + strings.Repeat("x", 20<<20) + `"}`))),
		},
		{name: "a long header", path: conversion.Path, body: []byte(""), header: 1 << 20},
		{name: "slow", path: conversion.Path, body: []byte(largeBody), slowly: true},
		{name: "slow and small", path: admission.Path, body: []byte(admissionReview(object("{}"))), slowly: true},
		{name: "silent", silent: true},
	}
}

// attack sends requests from an address until the context ends, and counts them.
func (h hostile) attack(ctx context.Context, source, destination string, count *atomic.Int64) {
	dialer := &tls.Dialer{
		NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}, Timeout: 10 * time.Second},
		Config:    &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the client is hostile
	}
	for ctx.Err() == nil {
		connection, err := dialer.DialContext(ctx, "tcp", destination)
		if err != nil {
			continue
		}
		count.Add(1)
		stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
		h.send(ctx, connection)
		stop()
		_ = connection.Close() // the server may have closed it
	}
}

func (h hostile) send(ctx context.Context, connection net.Conn) {
	if h.silent {
		_, _ = io.Copy(io.Discard, connection) // until the server closes the connection
		return
	}
	header := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n",
		h.path, len(h.body))
	if h.header > 0 {
		header += "X-Long: " + strings.Repeat("x", h.header) + "\r\n"
	}
	if _, err := io.WriteString(connection, header+"\r\n"); err != nil {
		return
	}
	for i := 0; h.slowly && i < len(h.body)-1; i++ {
		if _, err := connection.Write(h.body[i : i+1]); err != nil || ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
	if _, err := connection.Write(h.body); err != nil {
		return
	}
	if h.deaf {
		<-ctx.Done()
		return
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// peakMemory returns the highest memory use of the process, in bytes, without the pages of its program. The kernel takes those back
// before a container exceeds its limit. Go's own limit does not count them either.
func peakMemory(process int) int {
	GinkgoHelper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	Expect(err).NotTo(HaveOccurred())
	return (kilobytes(status, "VmHWM") - kilobytes(status, "RssFile")) << 10
}

func kilobytes(status []byte, field string) int {
	GinkgoHelper()
	match := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(status)
	Expect(match).NotTo(BeNil(), field)
	n, err := strconv.Atoi(string(match[1]))
	Expect(err).NotTo(HaveOccurred())
	return n
}

var _ = Describe("addon-manager webhook under fire", Ordered, func() {
	var (
		session   *gexec.Session
		address   string
		attackers []hostile
	)

	BeforeAll(func(ctx context.Context) {
		user, files := withoutSecrets(ctx, "under-fire"), mount()
		address = testenv.FreeAddress().String()
		command := exec.Command(managerBinary, "webhook", "--kubeconfig", user.Kubeconfig, "--namespace", namespace,
			"--certificates=files", "--certificate-dir", files.dir,
			"--webhook-bind-address", address, "--metrics-bind-address=0", "--health-probe-bind-address=0")
		command.Env = append(os.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", goLimit), "GOGC=100") // as in its pod
		var err error
		session, err = gexec.Start(command, nil, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait() })
		Eventually(func() error { return convert(address, "localhost", files.authority.CertPEM) }).WithTimeout(60 * time.Second).Should(Succeed())
		withoutHandlers(ctx)
		_, port, err := net.SplitHostPort(address)
		Expect(err).NotTo(HaveOccurred())
		configuration := admitBy(ctx, "under-fire", "https://localhost:"+port, files.authority.CertPEM)
		DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, configuration) })
		convertBy(ctx, "https://localhost:"+port, files.authority.CertPEM)
		awaitAdmission(ctx)
		create(ctx, clusterManagementAddOn(storage, "converted", declaredDependencies))
		attackers = hostiles()
	})

	// useWebhook is a round of requests for which the API server needs the webhook.
	useWebhook := func(ctx context.Context) {
		GinkgoHelper()
		object := reference(betaVersion, "converted")
		Expect(hubClient.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed(), "conversion")
		Expect(dependenciesOf(object)).To(Equal(declaredDependencies))
		Expect(registerForItself(ctx)).To(MatchError(ContainSubstring("probed → probed")), "admission")
	}

	// fire attacks with many clients while the API server needs the webhook.
	fire := func(ctx context.Context, clients int, kinds []hostile, source func(client int) string) {
		GinkgoHelper()
		attacking, stop := context.WithCancel(ctx)
		var group sync.WaitGroup
		counts := make([]atomic.Int64, len(kinds))
		for i := range clients {
			group.Go(func() { kinds[i%len(kinds)].attack(attacking, source(i), address, &counts[i%len(kinds)]) })
		}
		defer group.Wait()
		defer stop()
		for i, kind := range kinds {
			Eventually(counts[i].Load).WithTimeout(time.Minute).Should(BeNumerically(">=", max(1, clients/len(kinds)/2)), kind.name)
		}
		var longest time.Duration
		for range rounds {
			start := time.Now()
			useWebhook(ctx)
			longest = max(longest, time.Since(start))
		}
		Expect(session).NotTo(gexec.Exit())
		peak := peakMemory(session.Command.Process.Pid)
		AddReportEntry("longest round", longest.String())
		AddReportEntry("peak of memory", fmt.Sprintf("%d MiB", peak>>20))
		Expect(peak).To(BeNumerically("<", podLimit))
	}
	pods := func(client int) string { return fmt.Sprintf("127.0.0.%d", 2+client%4) }
	apiServer := func(int) string { return "127.0.0.1" }

	for i := range 22 {
		It(fmt.Sprintf("serves the API server beside hostile clients of kind %d", i), func(ctx context.Context) {
			Expect(attackers).To(HaveLen(22))
			AddReportEntry("kind", attackers[i].name)
			fire(ctx, 16, attackers[i:i+1], pods)
		})
	}

	It("serves the API server beside 500 hostile clients of all kinds", func(ctx context.Context) {
		fire(ctx, 500, attackers, pods)
	})

	It("serves the API server beside 500 hostile clients at its own address", func(ctx context.Context) {
		fire(ctx, 500, attackers, apiServer)
	})
})
