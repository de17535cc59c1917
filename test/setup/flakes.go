package setup

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
)

// Ginkgo prints the failures of a spec only if its last attempt fails. A flake would leave no trace of its cause.
var _ = ReportAfterEach(func(report SpecReport) {
	if !report.State.Is(types.SpecStatePassed) {
		return
	}
	for _, failed := range report.AdditionalFailures {
		fmt.Printf("FLAKE %s\n%s\n%s\n", report.FullText(), failed.Failure.Location, failed.Failure.Message)
	}
})
