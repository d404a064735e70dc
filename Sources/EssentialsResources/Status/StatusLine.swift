import EssentialsHTTP

/// Describes a set of resources in one line for people.
struct StatusLine: Sendable, Equatable {
    /// Whether a resource loads.
    var isLoading = false
    /// The age of the oldest content; `nil` if there is none.
    var age: Duration?
    /// Whether all resources have content.
    var isComplete = false
    /// The failure of the first resource that has one.
    var failure: RequestFailure?

    /// The line, such as `loading, 41 s old, last response 500`.
    var text: String {
        var parts: [String] = []
        if isLoading { parts.append("loading") }
        if let age {
            parts.append(isComplete ? "\(Self.text(of: age)) old" : "incomplete, \(Self.text(of: age)) old")
        } else if !isLoading {
            parts.append("no content")
        }
        if let failure {
            if failure.reason == .status, let status = failure.status {
                parts.append("last response \(status.code)")
            } else {
                parts.append("last failure: \(failure.summary)")
            }
        }
        return parts.joined(separator: ", ")
    }

    /// A duration in its largest whole unit, rounded down.
    static func text(of duration: Duration) -> String {
        let seconds = max(duration.bounded.components.seconds, 0)
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}

extension ResourceState {
    /// A line for people, such as `loading, 41 s old, last response 500`. The age is measured when the property is
    /// read.
    public var statusLine: String {
        StatusLine(isLoading: isLoading, age: content == nil ? nil : age, isComplete: content != nil, failure: failure)
            .text
    }
}
