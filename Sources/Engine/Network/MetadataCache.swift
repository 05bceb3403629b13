import Encoding
import HTTP
import JOSE
import OAuth
import Profiles
import SignIn
import Synchronization
import Transport

/// The metadata documents of the issuers in use, each fetched once and kept for a while.
final class MetadataCache: Sendable {
    /// How long a document is believed, in seconds.
    static let lifetime: Int64 = 600
    /// More issuers than a run talks to; beyond it the table is emptied.
    static let issuerLimit = 256

    struct Answer: Sendable {
        /// The exchanges it took: one for each address that was asked.
        let steps: [CallStep]
        let result: Discovery
    }

    /// What a fetch came to.
    enum Discovery: Sendable {
        case found(ServerMetadata)
        case failed(DiscoveryFailure)
    }

    fileprivate struct Entry {
        let metadata: ServerMetadata
        let until: Instant
        /// The news there had been when it was asked for.
        let news: Int
    }

    fileprivate struct Contents {
        var entries: [String: Entry] = [:]
        /// The fetches under way, each with the news there had been when it began.
        var underWay: [String: (task: Task<Answer, Never>, news: Int)] = [:]
    }

    private let contents = Mutex(Contents())
    private let news: MetadataNews

    /// Makes a cache that believes a document until it is old, or there is news.
    init(hearing news: MetadataNews = MetadataNews()) { self.news = news }

    /// A document fetched before and still believed.
    func known(_ issuer: String, at now: Instant) -> ServerMetadata? {
        contents.withLock { contents in
            contents.entries[issuer].flatMap { $0.until > now && $0.news == news.number ? $0.metadata : nil }
        }
    }

    /// Forgets the documents of an origin that name no challenge endpoint, since the server gives out challenges by now.
    func forgetWithoutChallengeEndpoint(at origin: String) {
        contents.withLock { contents in
            contents.entries = contents.entries.filter { _, entry in
                entry.metadata.challengeEndpoint != nil || entry.metadata.tokenEndpoint.origin != origin
            }
        }
    }

    /// Fetches an issuer's document; callers at once share one fetch.
    ///
    /// One with a fault is its author's alone.
    func discover(_ issuer: String, world: World, fault: PlannedFault.Kind? = nil) async -> Answer {
        if fault != nil { return await Self.fetch(issuer, world: world, fault: fault) }
        let fetch = contents.withLock { contents in
            if let underWay = contents.underWay[issuer], underWay.news == news.number { return underWay }
            let fetch = (task: Task { await Self.fetch(issuer, world: world) }, news: news.number)
            contents.underWay[issuer] = fetch
            return fetch
        }
        let answer = await fetch.task.value
        contents.withLock { contents in
            contents.underWay[issuer] = nil
            guard case .found(let metadata) = answer.result else { return }
            if contents.entries.count >= Self.issuerLimit { contents.entries = [:] }
            let until = world.clock.now().adding(seconds: Self.lifetime)
            contents.entries[issuer] = Entry(metadata: metadata, until: until, news: fetch.news)
        }
        return answer
    }

    /// Asks the address of OpenID Connect Discovery section 4 and, where that holds no document at all, the one of RFC
    /// 8414 section 3; a document that is there but breaks a rule is not asked for elsewhere.
    private static func fetch(_ issuer: String, world: World, fault: PlannedFault.Kind? = nil) async -> Answer {
        let addresses: (openID: String, oauth: String)
        do throws(MetadataError) {
            addresses = try ServerMetadata.addresses(of: issuer, allowPlainHTTPOnLoopback: true)
        } catch {
            let step = CallStep(
                call: "discovery", attempt: 1, method: "GET", url: issuer, outcome: .lost("\(error)"), proofs: [],
                milliseconds: 0)
            return Answer(steps: [step], result: .failed(.invalid(error)))
        }
        let first = await fetch(addresses.openID, issuer: issuer, world: world, fault: fault)
        guard case .failed(.invalid(.answer)) = first.result else { return first }
        let second = await fetch(addresses.oauth, issuer: issuer, world: world)
        let steps = first.steps + second.steps
        guard case .failed(.invalid(.answer)) = second.result else {
            return Answer(steps: steps, result: second.result)
        }
        return Answer(steps: steps, result: first.result)
    }

    private static func fetch(
        _ address: String, issuer: String, world: World, fault: PlannedFault.Kind? = nil
    ) async -> Answer {
        let start = world.clock.elapsed
        let response: Result<HTTPResponse, EngineError>
        do throws(EngineError) {
            guard let url = try? HTTPURL(address) else {
                throw .invalid(field: "issuer", rule: "an issuer is an http or https URL", value: issuer)
            }
            let request = ClientRequest(
                url: url, method: "GET", fields: HTTPFields([("Accept", "application/json")]), body: [],
                timeoutMilliseconds: world.callTimeout)
            response = .success(
                try await world.network.exchange(request, fault: fault, by: world.clock).get())
        } catch {
            response = .failure(error)
        }
        let step = CallStep(
            call: "discovery", attempt: 1, method: "GET", url: address, outcome: CallStep.Outcome(response),
            proofs: [], milliseconds: (world.clock.elapsed - start) / .milliseconds(1))
        let ceremonyMember = world.profile.members.metadata.deviceCeremonyEndpoint
        return Answer(steps: [step], result: read(response, issuer: issuer, ceremonyMember: ceremonyMember))
    }

    private static func read(
        _ response: Result<HTTPResponse, EngineError>, issuer: String, ceremonyMember: String
    ) -> Discovery {
        switch response {
        case .failure(.unreachable(_, let why)): return .failed(.unreachable(detail: why))
        case .failure(let error): return .failed(.invalid(.issuer(rule: error.description)))
        case .success(let response) where response.status == 429 || response.status >= 500:
            return .failed(.unavailable(status: response.status, retryAfter: response.fields["Retry-After"]))
        case .success(let response):
            do throws(MetadataError) {
                return .found(
                    try ServerMetadata(
                        status: response.status, mediaType: response.fields["Content-Type"], body: response.body,
                        issuer: issuer, allowPlainHTTPOnLoopback: true, ceremonyMember: ceremonyMember))
            } catch {
                return .failed(.invalid(error))
            }
        }
    }
}

extension World {
    /// An issuer's metadata, fetched if it is not known yet.
    ///
    /// Throws `.unreachable` or `.badAnswer`.
    func serverMetadata(
        of issuer: String, in cache: MetadataCache? = nil, fault: PlannedFault.Kind? = nil
    ) async throws(EngineError) -> ServerMetadata {
        let metadata = cache ?? metadata
        if let known = metadata.known(issuer, at: clock.now()) { return known }
        switch await metadata.discover(issuer, world: self, fault: fault).result {
        case .found(let found): return found
        case .failed(.unreachable(let why)): throw .unreachable(url: issuer, why: why)
        case .failed(.unavailable(let status, _)):
            throw .badAnswer(call: "discovery", why: "the server answered \(status)")
        case .failed(.invalid(let error)): throw .badAnswer(call: "discovery", why: "\(error)")
        }
    }
}

/// Counts the occasions on which issuers may have changed what they say of themselves, for every cache of a world.
final class MetadataNews: Sendable {
    private let count = Atomic(0)

    /// How many there were.
    var number: Int { count.load(ordering: .acquiring) }

    /// There is another.
    func spread() { count.add(1, ordering: .acquiringAndReleasing) }
}
