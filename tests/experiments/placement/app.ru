# The Rails service of the experiment, in one file: puma runs it on both compute hosts.
#   /health        no query
#   /feed          three serial calls: account, articles, feedback of all of them at once
#   /feed-naive    twelve: account, articles, and feedback of each of the ten articles
#   /serial?n=N    N serial calls; so does /serial/N, which a placer can tell apart
# Each query carries a comment with the route and the request's traceparent, from which the router observes N_serial.
require "action_controller/railtie"
require "active_record/railtie"

class FeedApp < Rails::Application
  config.root = __dir__
  config.eager_load = true
  config.consider_all_requests_local = false
  config.secret_key_base = "not a secret: this service keeps none"
  config.logger = Logger.new($stderr, level: Logger::WARN)
  config.log_level = :warn
  config.hosts.clear
  config.active_record.legacy_connection_handling = false if config.active_record.respond_to?(:legacy_connection_handling=)
  config.middleware.delete(ActionDispatch::HostAuthorization)
  routes.append do
    get "/health", to: "feed#health"
    get "/feed", to: "feed#feed"
    get "/feed-naive", to: "feed#naive"
    get "/serial(/:n)", to: "feed#serial"
  end
end

class FeedController < ActionController::API
  def health
    render plain: "ok"
  end

  def feed
    account = query("SELECT id, name FROM accounts WHERE id = 1").first
    articles = query("SELECT id, title FROM articles WHERE account = 1 ORDER BY id LIMIT 10")
    ids = articles.map { |row| row["id"] }.join(",")
    feedback = query("SELECT article, count(*) AS votes FROM feedback WHERE article IN (#{ids}) GROUP BY article")
    render json: { account: account, articles: articles, feedback: feedback }
  end

  def naive
    account = query("SELECT id, name FROM accounts WHERE id = 1").first
    articles = query("SELECT id, title FROM articles WHERE account = 1 ORDER BY id LIMIT 10")
    feedback = articles.map { |row| query("SELECT count(*) AS votes FROM feedback WHERE article = #{row['id'].to_i}").first }
    render json: { account: account, articles: articles, feedback: feedback }
  end

  def serial
    count = params[:n].to_i.clamp(0, 100)
    count.times { |call| query("SELECT #{call}") }  # each another: Rails answers a query it has seen from its cache
    render plain: count.to_s
  end

  private

  # "traceparent" is checked before it becomes part of a query: it comes from outside.
  def query(sql)
    trace = request.headers["traceparent"].to_s
    trace = "" unless trace.match?(/\A[0-9a-f-]{55}\z/)
    name = params[:action] == "serial" ? "/serial/#{params[:n].to_i}" : request.path
    comment = "/*route='#{ERB::Util.url_encode(name)}'#{",traceparent='#{trace}'" unless trace.empty?}*/"
    ActiveRecord::Base.connection.select_all("#{sql} #{comment}").to_a
  end
end

FeedApp.initialize!
ActiveRecord::Base.establish_connection(
  ENV.fetch("DATABASE_URL") + "?prepared_statements=false&pool=5"
)
run FeedApp
