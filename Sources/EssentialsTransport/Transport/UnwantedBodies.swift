/// Responses whose bodies the stage that sent the request may not want, because it acts on the status alone.
///
/// A transport may deliver these bodies as a stream although the request collects its body. The stage then collects a
/// body that it wants and drains any other. The length, pace and coding of a drained body do not matter.
package struct UnwantedBodies: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Redirects that can be followed: 301, 302, 303, 307 and 308.
    package static let ofRedirects = UnwantedBodies(rawValue: 1)
    /// Challenges: 401.
    package static let ofChallenges = UnwantedBodies(rawValue: 2)
}
