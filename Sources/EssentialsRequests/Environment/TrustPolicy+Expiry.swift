import EssentialsHTTP
package import EssentialsTransport
import FoundationEssentials

extension TrustPolicy {
    /// When the first pins expire, and whether that is over; `nil` if none expire.
    package var pinExpiry: (date: String, isOver: Bool)? {
        guard let date = firstExpiry else { return nil }
        return (InternetDate.text(date) ?? "\(date)", date <= Date.now)
    }
}
