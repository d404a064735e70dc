import ArgumentParser
import EssentialsObservability
import ServiceEssentials

/// How a request is shown instead of being sent, or recorded.
struct Recording {
    let isOffline: Bool
    let printsCommand: Bool
    /// The HAR file; `nil` if nothing is recorded.
    let file: String?
    let recordsBodies: Bool

    func check() throws {
        if isOffline, printsCommand { throw ValidationError("Give --offline or --curl, not both.") }
        if let option = preview?.option, file != nil {
            throw ValidationError("With \(option) there is nothing to record.")
        }
        if recordsBodies, file == nil { throw ValidationError("--har-bodies needs --har FILE.") }
        if file == "-" { throw ValidationError("--har needs the name of a file. Name it ./- if it is called so.") }
        if file?.isEmpty == true { throw ValidationError("--har needs a file name.") }
    }

    /// How the request is shown instead of being sent; `nil` if it is sent.
    var preview: RequestPreview.Form? { isOffline ? .request : printsCommand ? .command : nil }

    /// The recorder of the exchanges; `nil` if they are not recorded.
    var recorder: HARRecorder? {
        file.map { _ in HARRecorder(bodyLimit: recordsBodies ? HARRecorder.maximumBodySize : 0) }
    }
}
