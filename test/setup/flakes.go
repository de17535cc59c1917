package setup

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
)

// Ginkgo prints the failure of a spec's last attempt only. The failures of the attempts before would leave no trace of their
// cause. A flake passes in the end.
var _ = ReportAfterEach(func(report SpecReport) {
	word := "ATTEMPT"
	if report.State.Is(types.SpecStatePassed) {
		word = "FLAKE"
	}
	for _, failed := range report.AdditionalFailures {
		fmt.Printf("%s %s\n%s\n%s\n", word, report.FullText(), failed.Failure.Location, failed.Failure.Message)
	}
})
