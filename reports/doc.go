// Package reports turns a run's journal into what people read and machines load.
//
//  1. harness.ReadRun gives the records, and (*harness.Run).Judged what each trial means;
//  2. digest joins the two, one result a trial, and groups them by configuration;
//  3. a Report's Table, Summary, JSON and WriteAll show those: in the terminal, as recommended.json, trials.csv,
//     bench.txt, bench.csv, bench.md, bench.json, figures/*.png and report.html.
//
// Check compares two runs instead. Everything here can be made again from the
// journal alone. Records hold base units (bytes, seconds, samples/s); the units
// that people read are chosen here, one scale for each column.
package reports
