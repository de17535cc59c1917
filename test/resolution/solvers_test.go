package resolution

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
)

// timeout is the time after which a comparison gives up.
const timeout = 60 * time.Second

// program is a SAT solver. It decides whether a formula has a choice with some variables.
type program struct{ name, folder string }

var errTooLate = errors.New("too late")

// BenchmarkSolvers compares the search with SAT solvers, on inputs that are hard. It reports the time of the processor, because other
// processes share the machine. "any" is one choice of versions, and "documented" is that of kubectl addon resolve, or its refusal.
// The formula for the others is made before: they get no time for reading declarations.
// It needs the programs gophersat and clasp in PATH, and leaves out those that are not there.
func BenchmarkSolvers(b *testing.B) {
	for _, hard := range hardCatalogs {
		releases, wishes := hard.make()
		b.Run(hard.name+"/own/documented", func(b *testing.B) {
			measure(b, func() string {
				_, err := resolution.Resolve(releases, wishes, resolution.Kind{})
				return resultOf(err)
			})
		})
		f := formulaOf(world{releases: releases, wishes: wishes, allowed: releases})
		for _, name := range []string{"gophersat", "clasp"} {
			if _, err := exec.LookPath(name); err != nil {
				continue
			}
			p := program{name, b.TempDir()}
			b.Run(hard.name+"/"+name+"/any", func(b *testing.B) {
				measure(b, func() string {
					ok, err := p.decide(f, nil, time.Now().Add(timeout))
					return fmt.Sprint(ok, err)
				})
			})
			b.Run(hard.name+"/"+name+"/documented", func(b *testing.B) {
				measure(b, func() string { return p.documented(f, wishes, time.Now().Add(timeout)) })
			})
		}
	}
}

// measure runs a function, and reports the time of the processor that it and its child processes take.
func measure(b *testing.B, run func() string) {
	processor := func() time.Duration {
		total := time.Duration(0)
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var usage syscall.Rusage
			if err := syscall.Getrusage(who, &usage); err != nil {
				b.Fatal(err)
			}
			total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
		return total
	}
	before, result := processor(), ""
	for b.Loop() {
		result = run()
	}
	b.ReportMetric(float64((processor()-before)/time.Duration(b.N))/float64(time.Second), "cpu-s/op")
	b.Log(result)
}

// documented finds the versions that kubectl addon resolve documents, with a solver that decides only whether there is a choice: the
// highest version of each wish that leaves a choice, and then of each add-on that they require, by name. It leaves out why.
func (p program) documented(f *formula, wishes []resolution.Wish, deadline time.Time) string {
	if ok, err := p.decide(f, nil, deadline); err != nil {
		return err.Error()
	} else if !ok {
		return "conflict"
	}
	wanted, chosen := map[string]bool{}, map[string]bool{}
	for _, wish := range wishes {
		wanted[wish.AddOn] = wanted[wish.AddOn] || !wish.OnlyIfNeeded
	}
	var fixed []int
	for name := next(wanted, chosen); name != ""; name = next(wanted, chosen) {
		variables := slices.Clone(f.variables[name])
		slices.SortFunc(variables, func(a, b int) int {
			return semver.MustParse(f.releases[b-1].Version).Compare(semver.MustParse(f.releases[a-1].Version))
		})
		for _, variable := range variables {
			if ok, err := p.decide(f, append(slices.Clone(fixed), variable), deadline); err != nil {
				return err.Error()
			} else if !ok {
				continue
			}
			fixed, chosen[name] = append(fixed, variable), true
			for _, edge := range f.releases[variable-1].Registration.Spec.Dependencies {
				if edge.AddOn != "" && edge.Type == addonv1alpha1.DependencyTypeRequired {
					wanted[edge.AddOn] = true
				}
			}
			break
		}
	}
	return "solved"
}

// next returns the first wanted add-on by name that is not chosen.
func next(wanted, chosen map[string]bool) string {
	first := ""
	for name := range wanted {
		if wanted[name] && !chosen[name] && (first == "" || cmp.Less(name, first)) {
			first = name
		}
	}
	return first
}

// decide runs a program on the formula in the format DIMACS.
func (p program) decide(f *formula, chosen []int, deadline time.Time) (bool, error) {
	var dimacs bytes.Buffer
	fmt.Fprintf(&dimacs, "p cnf %d %d\n", len(f.releases), len(f.clauses)+len(chosen))
	for _, clause := range f.clauses {
		fmt.Fprintf(&dimacs, "%s 0\n", strings.Trim(fmt.Sprint(clause), "[]"))
	}
	for _, variable := range chosen {
		fmt.Fprintf(&dimacs, "%d 0\n", variable)
	}
	path := filepath.Join(p.folder, "formula.cnf")
	if err := os.WriteFile(path, dimacs.Bytes(), 0o600); err != nil {
		return false, err
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	output, _ := exec.CommandContext(ctx, p.name, path).Output() // its exit code is another one for each result
	if bytes.Contains(output, []byte("s UNSATISFIABLE")) {
		return false, nil
	}
	if !bytes.Contains(output, []byte("s SATISFIABLE")) {
		return false, errTooLate
	}
	return true, nil
}
