/// The reason why a run, or one client's part of it, failed.
struct RunnerError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
