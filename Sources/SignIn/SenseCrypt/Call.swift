public import Encoding

/// One HTTP call the machine wants made.
///
/// Every call is a `POST`; the pages of a browser's way, which go by ``Purpose/authorize``, are actions of their own.
///
/// The edge adds what must be fresh for each attempt: the DPoP proof (with its `jti`, `iat` and the newest nonce of
/// the origin) and, for a confidential client, a client assertion.
public struct Call: Codable, Sendable, Hashable {
    /// Which of the flow's calls this is.
    public enum Purpose: String, Codable, Sendable, Hashable, CaseIterable {
        /// Takes a browser one page further on its way through an authorization server; the only `GET`.
        case authorize
        /// Asks for a challenge to make evidence about the app for.
        case attestationChallenge
        /// Call 1, opens the session.
        case start
        /// Call 2, fetches the sealed face token.
        case faceToken
        /// Reports a face mismatch.
        case attempt
        /// Call 3, completes the session and gets the code.
        case completion
        /// Call 4, redeems the code.
        case token
        /// Renews the access token of a stored session; no call of a sign-in.
        case refresh
        /// Ends the session, best effort.
        case abort
        /// Revokes a grant nobody will use, best effort.
        case revocation

        /// The calls a SenseCrypt sign-in may make.
        public static let ofSignIn: [Purpose] = allCases.filter { $0 != .refresh && $0 != .authorize }
        /// The calls a sign-in by way of a browser may make.
        public static let ofBrowserSignIn: [Purpose] = [.authorize, .token, .revocation]
    }

    /// A request body.
    public enum Body: Sendable, Hashable {
        /// `application/x-www-form-urlencoded`.
        case form(FormFields)
        /// `application/json`.
        case json(JSON)

        /// The bytes to send.
        public var bytes: [UInt8] {
            switch self {
            case .form(let fields): fields.encoded()
            case .json(let json): json.serialized()
            }
        }

        /// The `Content-Type` to send.
        public var mediaType: String {
            switch self {
            case .form: "application/x-www-form-urlencoded"
            case .json: "application/json"
            }
        }
    }

    /// Which of the flow's calls this is.
    public let purpose: Purpose
    /// Counts the sends of this purpose since its budget was last full, beginning with 1.
    ///
    /// The repeat for a nonce keeps the number, since it is no retry.
    public let attempt: Int
    /// The absolute URL.
    public let url: String
    /// The body, without client authentication.
    public let body: Body
    /// Whether the request carries a DPoP proof of the install key.
    public let needsDPoP: Bool
    /// Whether the flow is over and does not depend on the answer.
    public let bestEffort: Bool

    /// Makes a call.
    public init(
        purpose: Purpose, attempt: Int, url: String, body: Body, needsDPoP: Bool, bestEffort: Bool
    ) {
        self.purpose = purpose
        self.attempt = attempt
        self.url = url
        self.body = body
        self.needsDPoP = needsDPoP
        self.bestEffort = bestEffort
    }

    /// Whether the request carries the assertion of a confidential client.
    ///
    /// The challenge, token and revocation endpoints authenticate clients; the ceremony endpoint does not (SenseCrypt
    /// wire, sections 2 and 12).
    public var mayCarryClientAuthentication: Bool { purpose.mayCarryClientAuthentication }
}

extension Call.Purpose {
    /// Whether calls of this purpose go to an endpoint that authenticates clients.
    public var mayCarryClientAuthentication: Bool {
        switch self {
        case .start, .completion, .token, .refresh, .revocation: true
        case .authorize, .attestationChallenge, .faceToken, .attempt, .abort: false
        }
    }
}

extension Call: CustomStringConvertible, CustomReflectable {
    /// Purpose, attempt and URL; the body often holds secrets.
    public var description: String { "\(purpose.rawValue) call \(attempt) to \(url)" }

    /// Hides the body from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["call": description]) }
}

extension Call.Body: CustomStringConvertible, CustomReflectable {
    /// The names of its members; the values are often secrets.
    public var description: String {
        switch self {
        case .form(let fields): fields.description
        case .json(let json): "json(" + (json.object?.names.joined(separator: ", ") ?? json.kind) + ")"
        }
    }

    /// Hides the values from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}

extension Call.Body: Codable {
    private enum CodingKeys: String, CodingKey { case form, json }

    /// Reads a form as its fields and JSON as its text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let fields = try container.decodeIfPresent(FormFields.self, forKey: .form) {
            self = .form(fields)
        } else {
            self = .json(try JSON(parsing: try container.decode(String.self, forKey: .json)))
        }
    }

    /// Writes a form as its fields and JSON as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .form(let fields): try container.encode(fields, forKey: .form)
        case .json(let json): try container.encode(json.text, forKey: .json)
        }
    }
}

/// What came back for a call, as far as the machine looks at it.
public struct CallResponse: Codable, Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The `Content-Type` field, parameters and all.
    public var mediaType: String?
    /// The `Retry-After` field.
    public var retryAfter: String?
    /// The `DPoP-Nonce` field.
    ///
    /// The edge has stored it; the machine looks whether there is one.
    public var dpopNonce: String?
    /// The challenge of the `OAuth-Client-Attestation-Challenge` field, where there is a usable one.
    ///
    /// The edge has remembered it; the machine looks whether a refusal brought one.
    public var attestationChallenge: String?
    /// The body.
    public var body: [UInt8]

    /// Makes a response from what was received.
    public init(
        status: Int, mediaType: String?, retryAfter: String? = nil, dpopNonce: String? = nil,
        attestationChallenge: String? = nil, body: [UInt8]
    ) {
        self.status = status
        self.mediaType = mediaType
        self.retryAfter = retryAfter
        self.dpopNonce = dpopNonce
        self.attestationChallenge = attestationChallenge
        self.body = body
    }
}

extension CallResponse: CustomStringConvertible, CustomReflectable {
    /// Status, media type and length; the body often holds secrets.
    public var description: String { "\(status) \(mediaType ?? "without media type"), \(body.count) bytes" }

    /// Hides the body from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}
