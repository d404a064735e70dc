import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// A lending library: fifteen operations with nested endpoints, authorization, pages, uploads and errors.
struct LibraryAPI: APIService {
    let baseURL: RequestBase
    var token: String?

    static var sharedProperties: RequestProperties {
        RequestHeaders {
            RequestHeader.accept(.json); ("X-Client", "library/1")
        }
    }
    static var errorModel: (any (Decodable & Sendable).Type)? { Problem.self }
    static var codecs: CodecRegistry? { .standard.registering(JSONCodec(keys: .snakeCase), for: MediaPattern(.json)) }

    var instanceProperties: RequestProperties {
        if let token { RequestHeader.authorization(.bearer(token)) }
    }

    struct Problem: Codable, Sendable, Hashable { let errorCode: String }
    struct Login: Codable, Sendable, Hashable { let userName: String }
    struct Session: Codable, Sendable, Hashable { let accessToken: String }
    struct Book: Codable, Sendable, Hashable {
        let id: Int
        var fullTitle: String
    }
    struct Loan: Codable, Sendable, Hashable {
        let bookID: Int
        enum CodingKeys: String, CodingKey { case bookID = "bookId" }
    }

    func logIn(_ name: String) -> APIRequest<Session> {
        request(.post, "session") {
            RequestHeader.removing("Authorization")
            RequestContent { Login(userName: name) }
        }
    }
    var logOut: APIRequest<Void> { request(.delete, "session") }
    var health: APIRequest<DataResponse> { request(.head, "health") }
    var books: Books { Books(parent: self) }
    var members: Members { Members(parent: self) }

    struct Books: BoundEndpoint {
        static let path: RequestPath = "books"
        let parent: LibraryAPI

        var all: APIRequest<[Book]> { request(.get) }
        func search(_ text: String, tags: [String] = [], page: Int? = nil) -> APIRequest<[Book]> {
            request(.get, "search") {
                RequestQuery {
                    ("q", text); ("tag", tags); ("page", page)
                }
            }
        }
        func get(_ id: Int) -> APIRequest<Book> { request(.get, "\(id)") }
        func create(_ book: Book) -> APIRequest<Book> { request(.post) { RequestContent { book } } }
        func rename(_ id: Int, to title: String) -> APIRequest<Book> {
            request(.patch, "\(id)") { RequestContent(json: ["full_title": "\(title)"]) }
        }
        func remove(_ id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
        func setCover(_ id: Int, _ image: Data) -> APIRequest<Void> {
            request(.put, "\(id)/cover") { RequestContent(.data(image, type: try? MediaType("image/png"))) }
        }
        func cover(_ id: Int) -> APIRequest<Data> {
            request(.get, "\(id)/cover") { RequestHeader.accept(.octetStream) }
        }
    }

    struct Members: BoundEndpoint {
        static let path: RequestPath = "members"
        let parent: LibraryAPI
        func loans(of member: String) -> Loans { Loans(parent: self, member: member) }
        func next(_ member: String) -> APIRequest<Loan?> {
            request(.get) {
                RequestPath {
                    member; "next"
                }
            }
        }
    }

    struct Loans: BoundEndpoint {
        static let path: RequestPath = ""
        let parent: Members
        let member: String
        var all: APIRequest<[Loan]> {
            request(.get) {
                RequestPath {
                    member; "loans"
                }
            }
        }
        func borrow(_ book: Int) -> APIRequest<Loan> {
            request(.post) {
                RequestPath {
                    member; "loans"
                }
                RequestContent { Loan(bookID: book) }
            }
        }
        func giveBack(_ book: Int) -> APIRequest<Void> {
            request(.delete) {
                RequestPath {
                    member; "loans"; book
                }
            }
        }
    }
}
