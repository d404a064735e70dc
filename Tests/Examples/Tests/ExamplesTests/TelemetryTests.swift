import CoreMetrics
import Telemetry
import Testing
import Tracing

@Suite("The example's backends of metrics and traces", .timeLimit(.minutes(5)))
struct TelemetryTests {
    @Test("Values are shown in the text format, with names and labels that it allows")
    func text() {
        let metrics = PrometheusMetrics()
        let labels = [("server.address", "a\"b\\c\nd"), ("x", "")]
        metrics.makeCounter(label: "1.calls", dimensions: labels).increment(by: 2)
        metrics.makeCounter(label: "1.calls", dimensions: labels).increment(by: 3)
        metrics.makeMeter(label: "open", dimensions: []).set(Int64(7))
        metrics.makeRecorder(label: "size", dimensions: [], aggregate: true).record(Int64(10))
        #expect(
            metrics.text == """
                # TYPE _1_calls_total counter
                _1_calls_total{server_address="a\\"b\\\\c\\nd",x=""} 5.0
                # TYPE open gauge
                open 7.0
                # TYPE size summary
                size_sum 10.0
                size_count 1

                """)
    }

    @Test("A name has one kind, and the order of labels does not matter")
    func kinds() {
        let metrics = PrometheusMetrics()
        metrics.makeMeter(label: "queue", dimensions: [("b", "2"), ("a", "1")]).set(Int64(1))
        metrics.makeMeter(label: "queue", dimensions: [("a", "1"), ("b", "2")]).set(Int64(3))
        metrics.makeRecorder(label: "queue", dimensions: [], aggregate: true).record(Int64(5))
        metrics.makeMeter(label: "same", dimensions: [("a.b", "1"), ("a_b", "2")]).set(Int64(7))
        #expect(
            metrics.text == """
                # TYPE queue gauge
                queue{a="1",b="2"} 3.0
                # TYPE queue_summary summary
                queue_summary_sum 5.0
                queue_summary_count 1
                # TYPE same gauge
                same{a_b="1"} 7.0

                """)
    }

    @Test("A time counts in each bucket that it fits into")
    func buckets() {
        let metrics = PrometheusMetrics()
        let timer = metrics.makeTimer(label: "took", dimensions: [("a", "b")])
        timer.recordNanoseconds(5_000_000)
        timer.recordNanoseconds(60_000_000_000)
        let lines = Set(metrics.text.split(separator: "\n").map(String.init))
        #expect(
            lines.isSuperset(of: [
                "# TYPE took_seconds histogram", #"took_seconds_bucket{a="b",le="0.005"} 1"#,
                #"took_seconds_bucket{a="b",le="10.0"} 1"#, #"took_seconds_bucket{a="b",le="+Inf"} 2"#,
                #"took_seconds_sum{a="b"} 60.005"#, #"took_seconds_count{a="b"} 2"#,
            ]))
        metrics.destroyTimer(timer)
        #expect(metrics.text.isEmpty)
    }

    @Test(
        "A field that is no context is ignored",
        arguments: [
            "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        ])
    func invalid(_ text: String) {
        #expect(TraceContext(text) == nil)
    }

    @Test("A span is a child of the context that was read, and ends once")
    func spans() async throws {
        let text = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff-more"
        let (stream, ended) = AsyncStream.makeStream(of: TraceContextTracer.Ended.self)
        let tracer = TraceContextTracer { ended.yield($0) }
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": text, "tracestate": "a=b"], into: &context, using: Reading())
        let span = tracer.startSpan(
            "work", context: context, ofKind: .server, at: DefaultTracerClock.now, function: "", file: "", line: 0)
        var carrier: [String: String] = [:]
        tracer.inject(span.context, into: &carrier, using: Writing())
        let written = try #require(TraceContext(carrier["traceparent"] ?? ""))
        #expect(written.flags == "01" && carrier["tracestate"] == "a=b")
        #expect(written.trace == "4bf92f3577b34da6a3ce929d0e0e4736" && written.span != "00f067aa0ba902b7")
        span.end()
        span.end()
        ended.finish()
        #expect(!span.isRecording && span.context.traceContext == written)
        var all: [TraceContextTracer.Ended] = []
        for await span in stream { all.append(span) }
        #expect(all.map(\.name) == ["work"] && all.first?.context == written)
        #expect(all.first?.parent?.span == "00f067aa0ba902b7")
    }

    private struct Reading: Extractor {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }

    private struct Writing: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }
}
