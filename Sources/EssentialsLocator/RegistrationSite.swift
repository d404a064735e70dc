/// Where in the source a registration was written; kept in every build, so that errors can name it.
struct RegistrationSite: Sendable, CustomStringConvertible {
    let fileID: StaticString
    let line: UInt

    var description: String { "\(fileID):\(line)" }
}
