import EssentialsHTTP
import EssentialsTools

/// The validations that a service does in the background. They count as its requests, and its shutdown ends them.
final class BackgroundValidations: Sendable {
    /// The largest body of a new response, because all are in memory until they have come.
    static let largest = 8 << 20
    /// The maximum number at the same time. Beyond it, stale responses are served and not validated.
    static let maximum = 64
    /// The time limit of each.
    static let time = Duration.seconds(30)

    private let inFlight: RequestsInFlight
    private let settings: ServiceSettings
    private let count = Mutex(0)

    init(_ inFlight: RequestsInFlight, _ settings: ServiceSettings) {
        (self.inFlight, self.settings) = (inFlight, settings)
    }

    /// Begins a validation; `nil` if there are too many, or if the service was shut down.
    func begin(in environment: EnvironmentSnapshot?) -> RequestsInFlight.Place? {
        let isAllowed = count.withLock { count in
            guard count < Self.maximum else { return false }
            count += 1
            return true
        }
        guard isAllowed else { return nil }
        let isWatched = settings.configuration.onEnvironmentChange == .cancelRequests
        do throws(RequestFailure) {
            return try inFlight.begin(
                in: isWatched ? environment.map { RequestsInFlight.WatchedEnvironment($0) } : nil,
                finishesOnShutdown: false)
        } catch {
            count.withLock { $0 -= 1 }
            return nil
        }
    }

    func end(_ place: RequestsInFlight.Place) {
        count.withLock { $0 -= 1 }
        inFlight.end(place)
    }

    /// The report of a validation.
    ///
    /// - Parameter template: What the call is shown as that was served with the stored response; see `DataRequest.urlTemplate`.
    func reporter(
        _ place: RequestsInFlight.Place, _ request: TransportRequest, template: String?
    ) -> RequestReporter {
        RequestReporter(settings, place.id, request.method, .url(request.url), template: template, isBackground: true)
    }
}
