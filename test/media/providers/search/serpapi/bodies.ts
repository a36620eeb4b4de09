// Replies of SerpApi as they come: lists between metadata, links to the provider and tokens.

const own = 'https://serpapi.com/search.json?engine=x';

export function reply(members: object, status = 'Success'): object {
  return {
    search_metadata: {
      id: '5f1',
      status,
      json_endpoint: 'https://serpapi.com/searches/5f1.json',
      total_time_taken: 1.2,
    },
    search_parameters: { engine: 'x', q: 'swiss alps' },
    search_information: { organic_results_state: 'Results for exact spelling' },
    ...members,
    serpapi_pagination: { next: own, next_page_token: 'tok-1' },
  };
}

export const nothing = reply({
  search_information: { organic_results_state: 'Fully empty' },
  error: "Google hasn't returned any results for this query.",
});

export const pages = reply({
  organic_results: [
    {
      position: 1,
      title: 'Swiss Alps',
      link: 'https://en.example.org/wiki/Swiss_Alps',
      redirect_link: 'https://www.google.com/url?q=1',
      displayed_link: 'https://en.example.org › wiki',
      favicon: 'https://serpapi.com/searches/5f1/images/1.png',
      thumbnail: 'https://serpapi.com/searches/5f1/images/2.png',
      date: 'Jan 3, 2026',
      snippet: 'The Alpine region of Switzerland.',
      source: 'Example',
      cached_page_link: own,
      sitelinks: { inline: [{ title: 'Geography', link: 'https://en.example.org/g' }] },
    },
    { position: 2, title: 'No link', snippet: 'x', thumbnail: 'https://a.example/2.jpg' },
  ],
  local_results: { more_locations_link: own, places: [{ position: 1, title: 'Hut' }] },
  related_searches: [
    { query: 'alps map', link: 'https://www.google.com/search?q=1', serpapi_link: own },
    { title: 'alps height' },
    { items: [] },
  ],
  ai_overview: { text_blocks: [{ snippet: 'Nobody has checked this.' }], page_token: 'tok-2' },
  answer_box: { type: 'organic_result', title: 'Height', snippet: '4,634 m', displayed_link: 'x' },
});

export const images = reply({
  images_results: [
    {
      position: 1,
      thumbnail: 'https://thumbs.example/1.jpg',
      related_content_id: 'x',
      serpapi_related_content_link: own,
      source: 'Example',
      title: 'Eiger',
      link: 'https://a.example/eiger',
      original: 'https://a.example/eiger.jpg',
      original_width: 1920,
      original_height: 1080,
      is_product: false,
    },
  ],
});

export const news = reply({
  news_results: [
    {
      position: 1,
      title: 'Snow',
      link: 'https://news.example/1',
      source: { name: 'News', icon: 'https://n.example/i.png', authors: ['A'] },
      thumbnail: 'https://n.example/1.jpg',
      thumbnail_small: 'https://news.google.com/x',
      date: '01/03/2026, 08:00 AM, +0000 UTC',
      iso_date: '2026-01-03T08:00:00Z',
      story_token: 'tok-3',
    },
    {
      position: 2,
      highlight: { title: 'Chief', link: 'https://news.example/2', source: { name: 'Chief' } },
      stories: [
        { position: 1, title: 'First', link: 'https://news.example/3', date: '2 days ago' },
        { position: 2, title: 'Second', link: 'https://news.example/4', source: 'Plain' },
      ],
      serpapi_link: own,
    },
    { position: 3, title: 'Neither' },
  ],
});

export const youtube = reply({
  video_results: [
    {
      position_on_page: 1,
      title: 'Climb',
      link: 'https://www.youtube.com/watch?v=1',
      serpapi_link: own,
      channel: { name: 'Climbers', link: 'https://www.youtube.com/@c', verified: true },
      published_date: '3 months ago',
      views: 1234,
      length: '12:34',
      description: 'A climb.',
      thumbnail: { static: 'https://i.example/1.jpg', rich: 'https://i.example/1.webp' },
    },
    { title: 'Live', link: 'https://www.youtube.com/watch?v=2', channel: { name: 'Live' } },
  ],
});

export const videos = reply({
  video_results: [
    {
      position: 1,
      title: 'Ski',
      link: 'https://v.example/1',
      thumbnail: 'https://v.example/1.jpg',
      source: 'Video',
      duration: '1:02:03',
      snippet: 'Skiing.',
      date: 'Jan 3, 2026',
    },
  ],
});

const hut = {
  position: 1,
  title: 'Hut',
  place_id: 'ChIJ1',
  data_id: '0x1:0x2',
  data_cid: '2',
  reviews_link: own,
  photos_link: own,
  gps_coordinates: { latitude: 46.5, longitude: 8.1 },
  rating: 4.6,
  reviews: 120,
  price: '$$',
  type: 'Mountain hut',
  types: ['Mountain hut', 'Restaurant'],
  address: 'Top 1, 3818 Grindelwald',
  open_state: 'Open ⋅ Closes 5 PM',
  hours: 'Open ⋅ Closes 5 PM',
  operating_hours: { monday: '9 AM–5 PM' },
  phone: '+41 33 000 00 00',
  website: 'https://hut.example',
  description: 'A hut.',
  thumbnail: 'https://lh5.example/1.jpg',
  place_id_search: own,
};

export const maps = reply({ local_results: [hut] });
export const onePlace = reply({
  place_results: { ...hut, type: ['Mountain hut', 'Inn'], operating_hours: undefined },
});
export const local = reply({
  local_results: [
    {
      position: 1,
      title: 'Bakery',
      rating: 4.1,
      reviews_original: '(20)',
      reviews: 20,
      type: 'Bakery',
      address: 'Street 2',
      hours: 'Closed',
      place_id: '77',
      gps_coordinates: { latitude: '46.9', longitude: '7.4' },
      links: { website: 'https://bakery.example', phone: 'tel:+41310000000' },
    },
  ],
});

export const directions = reply({
  places_info: [{ address: 'Zürich HB' }, { address: 'Bern' }],
  directions: [
    {
      travel_mode: 'Driving',
      via: 'A1',
      distance: 125_300,
      duration: 5_400,
      formatted_distance: '125 km',
      formatted_duration: '1 hr 30 min',
      trips: [
        {
          travel_mode: 'Driving',
          title: 'Get on A1',
          distance: 2_000,
          duration: 300,
          details: [
            { title: 'Head west', action: 'straight', distance: 500, duration: 60 },
            { title: 'Turn left', formatted_distance: '1.5 km' },
          ],
        },
        { travel_mode: 'Driving', title: 'Follow A1', formatted_distance: '123 km' },
      ],
    },
    {
      travel_mode: 'Transit',
      start_time: '8:02 AM',
      end_time: '8:58 AM',
      formatted_duration: '56 min',
      trips: [{ travel_mode: 'Transit', title: 'IC 1', start_stop: { name: 'Zürich HB' } }],
    },
    { duration: 7_000, trips: [{ details: ['Just walk'] }] },
  ],
});

export const shopping = reply({
  shopping_results: [
    {
      position: 1,
      title: 'Rope',
      product_link: 'https://www.google.com/shopping/product/1',
      product_id: '1',
      serpapi_product_api: own,
      immersive_product_page_token: 'tok-4',
      source: 'Shop',
      price: '$19.99',
      extracted_price: 19.99,
      rating: 4.5,
      reviews: 1200,
      snippet: 'Long rope',
      thumbnail: 'data:image/webp;base64,AAAA',
      delivery: 'Free',
    },
    { title: 'Axe', link: 'https://shop.example/axe', extracted_price: 80 },
  ],
});

const paper = (summary: string, more: object = {}) => ({
  title: 'On ice',
  result_id: 'r1',
  link: 'https://j.example/1',
  snippet: 'Ice melts.',
  publication_info: { summary, ...more },
});

export const papers = reply({
  organic_results: [
    {
      ...paper('A Muster, B Beispiel… - Journal of Ice - Snow, 2019 - j.example', {
        authors: [
          { name: 'A Muster', link: 'https://scholar.example/a', serpapi_scholar_link: own },
          { name: 'B Beispiel' },
        ],
      }),
      inline_links: { serpapi_cite_link: own, cited_by: { total: 42, cites_id: '9' } },
      resources: [
        { title: 'j.example', file_format: 'HTML', link: 'https://j.example/1.html' },
        { title: 'j.example', file_format: 'PDF', link: 'https://j.example/1.pdf' },
      ],
    },
    paper('A Muster, B Beispiel… - Journal of Ice, 2019 - j.example'),
    paper('A Muster - 2018 - books.example'),
    paper('A Muster - books.example'),
    paper('A Muster - Ice, 1998'),
    { title: 'Bare' },
  ],
});

export const suggestions = reply({
  suggestions: [
    { value: 'swiss alps map', relevance: 1250, type: 'QUERY', serpapi_link: own },
    'swiss alps train',
    7,
  ],
});

const airport = (id: string, time: string) => ({ name: `${id} Airport`, id, time });

export const flights = reply({
  best_flights: [
    {
      flights: [
        {
          departure_airport: airport('ZRH', '2026-12-12 09:55'),
          arrival_airport: airport('LHR', '2026-12-12 10:40'),
          duration: 105,
          airplane: 'Airbus A320',
          airline: 'SWISS',
          airline_logo: 'https://www.gstatic.example/LX.png',
          travel_class: 'Economy',
          flight_number: 'LX 318',
          legroom: '30 in',
          extensions: ['Wi-Fi'],
          overnight: true,
        },
        {
          departure_airport: airport('LHR', '2026-12-12 12:30'),
          arrival_airport: airport('JFK', '2026-12-12 15:30'),
          duration: 480,
          airline: 'BA',
          flight_number: 'BA 175',
        },
      ],
      layovers: [{ duration: 110, name: 'Heathrow', id: 'LHR' }],
      total_duration: 695,
      carbon_emissions: { this_flight: 500_000, typical_for_this_route: 480_000 },
      price: 612,
      type: 'Round trip',
      airline_logo: 'https://www.gstatic.example/multi.png',
      departure_token: 'tok-5',
    },
  ],
  other_flights: [
    {
      flights: [
        {
          departure_airport: airport('ZRH', '2026-12-12 13:00'),
          arrival_airport: airport('JFK', '2026-12-12 16:05'),
          duration: 545,
          airline: 'SWISS',
        },
      ],
      booking_token: 'tok-6',
    },
  ],
  price_insights: { lowest_price: 612, price_history: [[1, 2]] },
});

export const hotels = reply({
  brands: [{ id: 1, name: 'Inns' }],
  ads: [{ name: 'Paid place', price: '$1' }],
  properties: [
    {
      type: 'hotel',
      name: 'Bellevue',
      description: 'Grand.',
      link: 'https://bellevue.example',
      property_token: 'tok-7',
      serpapi_property_details_link: own,
      gps_coordinates: { latitude: 46.94, longitude: 7.44 },
      check_in_time: '3:00 PM',
      rate_per_night: { lowest: '€210', extracted_lowest: 210 },
      total_rate: { lowest: '€420', extracted_lowest: 420 },
      hotel_class: '5-star hotel',
      extracted_hotel_class: 5,
      images: [
        { thumbnail: 'https://lh5.example/h.jpg', original_image: 'https://h.example/o.jpg' },
      ],
      overall_rating: 4.7,
      reviews: 900,
      amenities: ['Spa', 'Bar'],
    },
    { name: 'Full house', hotel_class: '3-star hotel', total_rate: { lowest: '€99' } },
  ],
});
