package import Tracing

/// The identity of a span in a trace, as the field `traceparent` carries it
/// ([W3C Trace Context](https://www.w3.org/TR/trace-context/)).
package struct TraceContext: Sendable, Hashable, CustomStringConvertible {
    /// 32 hexadecimal digits.
    package let trace: String
    /// 16 hexadecimal digits.
    package let span: String
    /// Two hexadecimal digits: `01` if the trace is recorded, or `00`.
    package let flags: String

    /// A new trace.
    package init() {
        trace = Self.hexadecimal(.random(in: 1 ... .max)) + Self.hexadecimal(.random(in: 0 ... .max))
        span = Self.hexadecimal(.random(in: 1 ... .max))
        flags = "01"
    }

    private init(trace: String, span: String, flags: String) {
        (self.trace, self.span, self.flags) = (trace, span, flags)
    }

    /// Reads the value of the field; `nil` if it is none.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, let version = Self.digits(parts[0], 2), version != "ff",
            parts.count == 4 || version != "00",
            let trace = Self.digits(parts[1], 32), let span = Self.digits(parts[2], 16),
            let flags = Self.digits(parts[3], 2), trace.contains(where: { $0 != "0" }),
            span.contains(where: { $0 != "0" })
        else { return nil }
        // Of the flags only the last one, which says whether the trace is recorded, is known here.
        let isSampled = UInt8(flags, radix: 16).map { $0 & 1 == 1 } ?? false
        self.init(trace: trace, span: span, flags: isSampled ? "01" : "00")
    }

    /// Another span of the trace.
    package var child: TraceContext {
        TraceContext(trace: trace, span: Self.hexadecimal(.random(in: 1 ... .max)), flags: flags)
    }

    /// The value of the field.
    package var description: String { "00-\(trace)-\(span)-\(flags)" }

    private static func digits(_ text: Substring, _ count: Int) -> String? {
        let isDigits = text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        return isDigits && text.utf8.count == count ? String(text) : nil
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ServiceContext {
    private enum Key: ServiceContextKey { typealias Value = TraceContext }

    /// The span that is running; `nil` outside a trace.
    package var traceContext: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }

    private enum StateKey: ServiceContextKey { typealias Value = String }

    /// The field `tracestate` of other tracers, which is handed on as it came; `nil` without one.
    package var traceState: String? {
        get { self[StateKey.self] }
        set { self[StateKey.self] = newValue }
    }
}
