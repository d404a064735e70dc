/// Where in the source a registration was written; kept in every build, so that errors can name it.
struct RegistrationSite: Sendable, CustomStringConvertible {
    let fileID: StaticString
    let line: UInt

    /// The registration whose proxy is being made.
    @TaskLocal static var registering: RegistrationSite?

    var description: String { "\(fileID):\(line)" }
}
