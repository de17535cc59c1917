// Package output prints the results of the plugin's verbs: for people, or as data in the
// formats of kubectl.
package output

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/get"

	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// Flags has the flags that choose a format.
type Flags struct {
	print *genericclioptions.PrintFlags
	// columns has the formats custom-columns and custom-columns-file.
	columns *get.CustomColumnsPrintFlags
	// own has the formats that the verb prints itself.
	own []string
	// headless is true for tables without headings.
	headless bool
	// printer is nil if no format is chosen, or a format that the verb prints itself.
	printer printers.ResourcePrinter
}

// Formats that some verbs print themselves.
const (
	Wide = "wide"
	Name = "name"
)

// NewFlags returns flags without a chosen format, which means output for people. The verb
// prints its own formats itself, such as Wide.
func NewFlags(own ...string) *Flags {
	return &Flags{print: genericclioptions.NewPrintFlags(""), columns: get.NewCustomColumnsPrintFlags(), own: own}
}

// WithoutTemplate leaves out the flag --template, which the verb has with another meaning. A format can contain its template: go-template=...
func (f *Flags) WithoutTemplate() *Flags {
	f.print.TemplatePrinterFlags.TemplateArgument = nil
	return f
}

// Is reports whether this format is chosen.
func (f *Flags) Is(format string) bool { return *f.print.OutputFormat == format }

// IsData reports whether a format for programs is chosen.
func (f *Flags) IsData() bool { return f.printer != nil }

// AddTo adds the flags to a verb.
func (f *Flags) AddTo(command *cobra.Command) {
	f.print.AddFlags(command)
	command.Flags().BoolVar(&f.headless, "no-headers", false, "Tables have no headings.")
	format := command.Flags().Lookup("output")
	format.Usage = "Output format. If empty, output for people. One of: (" + strings.Join(f.formats(), ", ") + ")."
	*f.print.OutputFormat = ""
	for _, hidden := range []string{"show-managed-fields", "allow-missing-template-keys"} {
		_ = command.Flags().MarkHidden(hidden) // the flags have no effect here
	}
	_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(f.formats(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

func (f *Flags) formats() []string {
	formats := slices.DeleteFunc(f.print.AllowedFormats(), func(format string) bool { return format == Name })
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(formats, f.columns.AllowedFormats(), f.own))))
}

// Validate returns an error if the chosen format is unknown.
func (f *Flags) Validate() error {
	format := *f.print.OutputFormat
	if format == "" || slices.Contains(f.own, format) {
		return nil
	}
	var err error
	if f.hasColumns() {
		f.columns.NoHeaders = f.headless
		if f.printer, err = f.columns.ToPrinter(format); err != nil {
			return fmt.Errorf("--output=%q: %w", format, err)
		}
		return nil
	}
	if f.printer, err = f.print.ToPrinter(); err != nil || format == Name {
		return fmt.Errorf("--output=%q: must be one of %s", format, strings.Join(f.formats(), ", "))
	}
	return nil
}

// hasColumns reports whether a format with columns of the user is chosen.
func (f *Flags) hasColumns() bool {
	name, _, _ := strings.Cut(*f.print.OutputFormat, "=")
	return slices.Contains(f.columns.AllowedFormats(), name)
}

// Chosen reports whether any format is chosen.
func (f *Flags) Chosen() bool { return *f.print.OutputFormat != "" }

// Table returns a table without rows, with the chosen format.
func (f *Flags) Table(out io.Writer, heading []string) *table.Table {
	t := table.New(out, heading)
	t.Uncut, t.Headless = f.Is(Wide), f.headless
	return t
}

// Print prints a report in the chosen format. Without a format, it calls the function that
// prints it for people.
func (f *Flags) Print(out io.Writer, report any, forPeople func() error) error {
	if f.printer == nil {
		return forPeople()
	}
	if format, _, _ := strings.Cut(*f.print.OutputFormat, "="); isList(report) && strings.Contains(format, "template") {
		return cmdline.UsageError(fmt.Errorf("--output=%q: templates need an object, and this is a list; jsonpath works", *f.print.OutputFormat))
	}
	convert := objectOf
	if f.hasColumns() {
		convert = listOf
	}
	object, err := convert(report)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return f.printer.PrintObj(object, out)
}

func isList(report any) bool { return reflect.TypeOf(report).Kind() == reflect.Slice }

// objectOf converts a report or a plain list to an object that a printer can print.
func objectOf(report any) (runtime.Object, error) {
	if isList(report) {
		raw, err := json.Marshal(report)
		return &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(report)
	return &unstructured.Unstructured{Object: content}, err
}

// listOf converts a report or a plain list to the objects that have a row each: its items, or the report itself if it has none.
func listOf(report any) (runtime.Object, error) {
	if !isList(report) {
		object, err := objectOf(report)
		if list, ok := object.(*unstructured.Unstructured); ok && list.IsList() {
			return list.ToList()
		}
		return object, err
	}
	raw, err := json.Marshal(report)
	if err != nil {
		return nil, err
	}
	var items []map[string]any
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	for _, item := range items {
		list.Items = append(list.Items, unstructured.Unstructured{Object: item})
	}
	return list, nil
}
