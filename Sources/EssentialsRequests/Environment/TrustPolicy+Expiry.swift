import EssentialsHTTP
package import EssentialsTransport
import FoundationEssentials

extension TrustPolicy {
    /// When the first pins expire, and whether they have expired at a date; `nil` if none expire.
    package func pinExpiry(by clock: RequestClock) -> (date: String, isOver: Bool)? {
        guard let date = firstExpiry else { return nil }
        return (InternetDate.text(date) ?? "\(date)", date <= clock.date)
    }
}
