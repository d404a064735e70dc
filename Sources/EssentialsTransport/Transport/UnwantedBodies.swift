/// Responses whose bodies are for nobody, if the stage that asked for them acts on the status alone.
///
/// A transport may deliver these bodies as a stream although the request collects its body. The stage then drains what it
/// does not want, and its length, pace and coding decide nothing; what it does want it collects itself.
package struct UnwantedBodies: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Redirects that can be followed: 301, 302, 303, 307 and 308.
    package static let ofRedirects = UnwantedBodies(rawValue: 1)
    /// Challenges: 401.
    package static let ofChallenges = UnwantedBodies(rawValue: 2)
}
